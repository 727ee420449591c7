import { sharedString } from "../syntax/shared-string.ts";
import { configKey, type Reference } from "./references.ts";

/**
 * Merges references to the same object that have the same way of reading and are equally optional. The merged reference has the
 * keys of all of them. No required key becomes optional, and no optional key becomes required. The result is sorted, so
 * that the order in the pod spec does not matter. Takes time in proportion to input and output, plus one sort.
 */
export function mergeReferences(references: Iterable<Reference>): readonly Reference[] {
  const groups = new Map<string, Group>();
  for (const reference of references) {
    const { reads, keys, optional, requiresMark } = reference;
    // "All keys" and named keys stay separate: "all" requires no particular key, but a named key may be required.
    const id = `${configKey(reference)} ${reads} ${keys === "all"} ${optional}${requiresMark ? " marked" : ""}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { first: reference, keys: keys === "all" ? "all" : new Set(keys) });
    else if (group.keys !== "all") for (const key of keys) group.keys.add(key);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => merged(group));
}

interface Group {
  /** The first of the merged references. Its path and annotation are kept. */
  readonly first: Reference;
  readonly keys: "all" | Set<string>;
}

/** Returns one reference for a group, made of strings that thousands of workloads share. */
function merged({
  first: { kind, namespace, name, reads, optional, path, annotation, requiresMark },
  keys,
}: Group): Reference {
  const reference: Reference = {
    kind,
    namespace: sharedString(namespace),
    name: sharedString(name),
    reads,
    keys: keys === "all" ? "all" : Array.from(keys, sharedString).sort(),
    optional,
    path: sharedString(path),
    ...(annotation === undefined ? {} : { annotation }),
  };
  return requiresMark ? { ...reference, requiresMark } : reference;
}
