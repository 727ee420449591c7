import { type ConfigName, configKey } from "../references/references.ts";
import { formatList, quoted } from "../syntax/wording.ts";
import { wholeKey } from "./digest.ts";
import type { ConfigView, ViewEntry } from "./hash.ts";
import type { Missing } from "./view-of-references.ts";

/** A change of one object since the last rollout. */
export interface Change extends ConfigName {
  /**
   * "changed": some of its keys changed. "added" and "removed": the object did not exist before, or does not exist now, or the
   * reference to it was added or removed.
   */
  readonly how: "changed" | "added" | "removed";
  /** The keys that were added, removed or changed, sorted. Empty if all were added or removed, or if they are not known. */
  readonly keys: readonly string[];
}

/** Returns the differences of two views: one entry for each object, sorted by kind, namespace and name. */
export function changesBetween(before: ConfigView, after: ConfigView): readonly Change[] {
  const [old, current] = [byObject(before), byObject(after)];
  const names = [...new Set([...old.keys(), ...current.keys()])].sort();
  return names.flatMap((name) => {
    const [entriesBefore, entriesAfter] = [old.get(name), current.get(name)];
    const isChanged = before.emptyObjects?.has(name) || after.emptyObjects?.has(name);
    return changeOf(entriesBefore, entriesAfter, isChanged) ?? [];
  });
}

function byObject(view: ConfigView): ReadonlyMap<string, readonly ViewEntry[]> {
  return Map.groupBy(view.entries, configKey);
}

/** Returns the change of one object. `isChanged`: the object existed before and exists now, with other keys. */
function changeOf(
  before: readonly ViewEntry[] = [],
  after: readonly ViewEntry[] = [],
  isChanged = false,
): Change | undefined {
  const [example] = after.length > 0 ? after : before;
  if (example === undefined) return undefined;
  const { kind, namespace, name } = example;
  const object = { kind, namespace, name };
  if (before.length === 0 && !isChanged) return { ...object, how: "added", keys: [] };
  if (after.length === 0 && !isChanged) return { ...object, how: "removed", keys: [] };
  const keys = [...new Set([...without(before, after), ...without(after, before)])].sort();
  if (keys.includes(wholeKey)) return { ...object, how: "changed", keys: [] };
  return keys.length > 0 ? { ...object, how: "changed", keys } : undefined;
}

/** Returns the keys of the entries that `others` does not contain in the same state. */
function without(entries: readonly ViewEntry[], others: readonly ViewEntry[]): readonly string[] {
  const same = new Set(others.map(state));
  return entries.filter((entry) => !same.has(state(entry))).map(({ key }) => key);
}

function state({ key, digest }: ViewEntry): string {
  return digest === undefined ? `${key}/hidden` : `${key}/seen ${digest}`;
}

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
