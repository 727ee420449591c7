import { sharedString } from "../syntax/shared-string.ts";
import { configKey, type Reference } from "./references.ts";

/**
 * The same references with fewer objects: those of one object that are read in the same way and are equally optional
 * become one whose keys are united. Nothing that is required becomes optional by it, nor the other way round.
 * Sorted, so that the order in the pod spec does not matter. Costs what is read and what comes of it, and one sort.
 */
export function mergeReferences(references: Iterable<Reference>): readonly Reference[] {
  const groups = new Map<string, Group>();
  for (const reference of references) {
    const { reads, keys, optional, ifMarked } = reference;
    // "All keys" stays apart from named ones: it asks for none in particular, and a named one may be required.
    const id = `${configKey(reference)} ${reads} ${keys === "all"} ${optional}${ifMarked ? " marked" : ""}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { first: reference, keys: keys === "all" ? "all" : new Set(keys) });
    else if (group.keys !== "all") for (const key of keys) group.keys.add(key);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => merged(group));
}

interface Group {
  /** The first place where it is written. */
  readonly first: Reference;
  readonly keys: "all" | Set<string>;
}

/** Made of strings that thousands of workloads share. */
function merged({ first: { kind, namespace, name, reads, optional, path, ifMarked }, keys }: Group): Reference {
  const reference: Reference = {
    kind,
    namespace: sharedString(namespace),
    name: sharedString(name),
    reads,
    keys: keys === "all" ? "all" : Array.from(keys, sharedString).sort(),
    optional,
    path: sharedString(path),
  };
  return ifMarked ? { ...reference, ifMarked } : reference;
}
