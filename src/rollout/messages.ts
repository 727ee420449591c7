import type { Change } from "./changes.ts";
import { type ConfigName, configKey } from "./references.ts";
import type { Missing } from "./view.ts";

/** How many objects, and how many keys of each, a message names: the API server cuts an Event's message at 1 KiB. */
const shownObjects = 5;
const shownKeys = 5;

/** `Secret "db"`, or `Secret "other/db"` where it is not in the namespace of the workload that is spoken of. */
export function describeObject({ kind, namespace, name }: ConfigName, workloadNamespace: string): string {
  return `${kind} "${namespace === workloadNamespace ? name : `${namespace}/${name}`}"`;
}

/** What is missing: `Secret "db" (key "password") and ConfigMap "web"`. */
export function describeMissing(missing: readonly Missing[], workloadNamespace: string): string {
  const objects = Map.groupBy(missing, configKey);
  const parts = [...objects.values()].flatMap((ofObject) => {
    const [object] = ofObject;
    if (object === undefined) return [];
    const keys = ofObject.flatMap(({ key }) => key ?? []);
    return describeObject(object, workloadNamespace) + parenthesized(keys);
  });
  return enumerated(parts, shownObjects);
}

/** Why a workload waits: `waiting for Secret "db" (key "password")`. */
export function describeWaiting(missing: readonly Missing[], workloadNamespace: string): string {
  return `waiting for ${describeMissing(missing, workloadNamespace)}`;
}

/** What changed: `ConfigMap "web" changed (key "index.html") and Secret "db" appeared`. */
export function describeChanges(changed: readonly Change[], workloadNamespace: string): string {
  const parts = changed.map((change) => {
    return `${describeObject(change, workloadNamespace)} ${verbs[change.how]}${parenthesized(change.keys)}`;
  });
  return enumerated(parts, shownObjects);
}

const verbs: Record<Change["how"], string> = {
  changed: "changed",
  added: "appeared",
  removed: "disappeared",
};

function parenthesized(keys: readonly string[]): string {
  if (keys.length === 0) return "";
  const quoted = keys.map((key) => `"${key}"`);
  return ` (${keys.length === 1 ? "key" : "keys"} ${enumerated(quoted, shownKeys)})`;
}

/** `a`, `a and b`, `a, b and c`, `a, b and 7 more`. */
function enumerated(parts: readonly string[], shown: number): string {
  const rest = parts.length - shown;
  const named = rest > 0 ? [...parts.slice(0, shown), `${rest} more`] : parts;
  const last = named.at(-1) ?? "nothing";
  return named.length < 2 ? last : `${named.slice(0, -1).join(", ")} and ${last}`;
}
