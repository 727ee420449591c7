import { type ConfigName, configKey } from "../references/references.ts";
import { formatList, quoted } from "../syntax/wording.ts";
import type { Change } from "./changes.ts";
import type { Missing } from "./view-of-references.ts";

/** How many objects a message names, how many keys of each object, and how many of both. The API server limits the message of an Event to 1 KiB. */
const shownObjects = 5;
const shownKeys = 5;
const shownNames = 10;

/** Returns `Secret "db"`, or `Secret "other/db"` if the object is not in the namespace of the workload. */
export function describeObject({ kind, namespace, name }: ConfigName, workloadNamespace: string): string {
  return `${kind} ${quoted(namespace === workloadNamespace ? name : `${namespace}/${name}`)}`;
}

/** Returns the missing objects and keys: `Secret "db" (key "password") and ConfigMap "web"`. */
export function describeMissing(missing: readonly Missing[], workloadNamespace: string): string {
  const objects = [...Map.groupBy(missing, configKey).values()];
  return formatList(objects, shownObjects, (ofObject) => {
    const keys = ofObject.flatMap(({ key }) => key ?? []);
    return ofObject.slice(0, 1).map((object) => describeObject(object, workloadNamespace)) + parenthesized(keys);
  });
}

/** Returns why a workload waits: `waiting for Secret "db" (key "password")`. */
export function describeWaiting(missing: readonly Missing[], workloadNamespace: string): string {
  return `waiting for ${describeMissing(missing, workloadNamespace)}`;
}

/** Returns the changes, each with a suffix: `ConfigMap "web" changed (key "index.html") and Secret "db" was added`. Undefined or none: unknown changes. */
export function describeChanges(
  changed: readonly Change[] | undefined,
  workloadNamespace: string,
  suffix: (change: Change) => string = () => "",
): string {
  if (changed === undefined || changed.length === 0) return "the configuration changed after its hash was recorded";
  const keys = Math.floor(shownNames / Math.min(changed.length, shownObjects)) - 1;
  return formatList(changed, shownObjects, (change) => {
    const object = describeObject(change, workloadNamespace);
    // Its only key is internal to Wave.
    if (change.kind === "SecretProviderClass" && change.how === "changed")
      return `${object} was rotated${suffix(change)}`;
    return `${object} ${verbs[change.how]}${parenthesized(change.keys, Math.min(keys, shownKeys))}${suffix(change)}`;
  });
}

const verbs: Record<Change["how"], string> = {
  changed: "changed",
  added: "was added",
  removed: "was removed",
};

function parenthesized(keys: readonly string[], shown = shownKeys): string {
  if (keys.length === 0) return "";
  return ` (${keys.length === 1 ? "key" : "keys"} ${formatList(keys, shown, quoted)})`;
}
