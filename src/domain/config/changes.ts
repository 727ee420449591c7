import { type ConfigName, configKey } from "../references/references.ts";
import type { ConfigView, ViewEntry } from "./hash.ts";

/** What changed in one object since the last roll. */
export interface Change extends ConfigName {
  /**
   * "changed": some of its keys; "added" and "removed": Pods saw nothing of it before, or see nothing of it any more,
   * because it, its keys or the reference to it came or went.
   */
  readonly how: "changed" | "added" | "removed";
  /** The keys that came, went or changed, sorted; empty where all did. */
  readonly keys: readonly string[];
}

/** What differs between two views, an entry an object, sorted by kind, namespace and name. */
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
  return keys.length > 0 ? { ...object, how: "changed", keys } : undefined;
}

/** The keys of the entries that the others do not have in the same state. */
function without(entries: readonly ViewEntry[], others: readonly ViewEntry[]): readonly string[] {
  const same = new Set(others.map(state));
  return entries.filter((entry) => !same.has(state(entry))).map(({ key }) => key);
}

function state({ key, digest }: ViewEntry): string {
  return digest === undefined ? `${key}/hidden` : `${key}/seen ${digest}`;
}
