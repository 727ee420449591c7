import { type ConfigName, configKey } from "../references/references.ts";
import { wholeKey } from "./digest.ts";
import type { ConfigView, ViewEntry } from "./hash.ts";

/** A change of one object since the last rollout. */
export interface Change extends ConfigName {
  /**
   * "changed": some of its keys changed. "added" and "removed": the Pods read nothing of the object before, or read
   * nothing of it now, because the object, its keys or the reference to it was added or removed.
   */
  readonly how: "changed" | "added" | "removed";
  /** The keys that were added, removed or changed, sorted. Empty if all were added or removed, or if they are not known. */
  readonly keys: readonly string[];
}

/** Returns the differences of two views: one entry for each object, sorted by kind, namespace and name. */
export function changesBetween(before: ConfigView, after: ConfigView): readonly Change[] {
  const [old, current] = [byObject(before), byObject(after)];
  const names = [...new Set([...old.keys(), ...current.keys()])].sort();
  return names.flatMap((name) => changeOf(old.get(name), current.get(name)) ?? []);
}

function byObject(view: ConfigView): ReadonlyMap<string, readonly ViewEntry[]> {
  return Map.groupBy(view.entries, configKey);
}

function changeOf(before: readonly ViewEntry[] = [], after: readonly ViewEntry[] = []): Change | undefined {
  const [example] = after.length > 0 ? after : before;
  if (example === undefined) return undefined;
  const { kind, namespace, name } = example;
  const object = { kind, namespace, name };
  if (before.length === 0) return { ...object, how: "added", keys: [] };
  if (after.length === 0) return { ...object, how: "removed", keys: [] };
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
