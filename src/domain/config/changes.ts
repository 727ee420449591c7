import { type ConfigName, configKey } from "../references/references.ts";
import { wholeKey } from "./digest.ts";
import type { ConfigView, ViewEntry } from "./hash.ts";

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
