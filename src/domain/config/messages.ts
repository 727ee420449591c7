import { type ConfigName, configKey } from "../references/references.ts";
import { enumerated, quoted } from "../syntax/wording.ts";
import type { Change } from "./changes.ts";
import type { Missing } from "./view.ts";

/** How many objects, and how many keys of each, a message names: the API server cuts an Event's message at 1 KiB. */
const shownObjects = 5;
const shownKeys = 5;

/** `Secret "db"`, or `Secret "other/db"` where it is not in the namespace of the workload that is spoken of. */
export function describeObject({ kind, namespace, name }: ConfigName, workloadNamespace: string): string {
  return `${kind} ${quoted(namespace === workloadNamespace ? name : `${namespace}/${name}`)}`;
}

/** What is missing: `Secret "db" (key "password") and ConfigMap "web"`. */
export function describeMissing(missing: readonly Missing[], workloadNamespace: string): string {
  const objects = [...Map.groupBy(missing, configKey).values()];
  return enumerated(objects, shownObjects, (ofObject) => {
    const keys = ofObject.flatMap(({ key }) => key ?? []);
    return ofObject.slice(0, 1).map((object) => describeObject(object, workloadNamespace)) + parenthesized(keys);
  });
}

/** Why a workload waits: `waiting for Secret "db" (key "password")`. */
export function describeWaiting(missing: readonly Missing[], workloadNamespace: string): string {
  return `waiting for ${describeMissing(missing, workloadNamespace)}`;
}

/** What changed: `ConfigMap "web" changed (key "index.html") and Secret "db" appeared`. */
export function describeChanges(changed: readonly Change[], workloadNamespace: string): string {
  return enumerated(changed, shownObjects, (change) => {
    // Its one key is Wave's own, and nobody's to know.
    if (change.kind === "SecretProviderClass" && change.how === "changed") {
      return `${describeObject(change, workloadNamespace)} was rotated`;
    }
    return `${describeObject(change, workloadNamespace)} ${verbs[change.how]}${parenthesized(change.keys)}`;
  });
}

const verbs: Record<Change["how"], string> = {
  changed: "changed",
  added: "appeared",
  removed: "disappeared",
};

function parenthesized(keys: readonly string[]): string {
  if (keys.length === 0) return "";
  return ` (${keys.length === 1 ? "key" : "keys"} ${enumerated(keys, shownKeys, quoted)})`;
}
