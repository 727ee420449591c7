import { configKey, type Reference } from "./references.ts";

/**
 * The same references with fewer objects: those of one object that are read in the same way and are equally optional
 * become one whose keys are united. Nothing that is required becomes optional by it, nor the other way round.
 * Sorted, so that the order in the pod spec does not matter.
 */
export function mergeReferences(references: readonly Reference[]): readonly Reference[] {
  const merged = new Map<string, Reference>();
  for (const reference of references) {
    const { reads, keys, optional } = reference;
    // "All keys" stays apart from named ones: it asks for none in particular, and a named one may be required.
    const group = [configKey(reference), reads, keys === "all", optional].join(" ");
    const before = merged.get(group);
    merged.set(group, before === undefined ? compact(reference) : { ...before, keys: united(before.keys, keys) });
  }
  return [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, reference]) => reference);
}

function united(a: Reference["keys"], b: Reference["keys"]): Reference["keys"] {
  if (a === "all" || b === "all") return "all";
  return [...new Set([...a, ...b])].map(shared).sort();
}

/** The same reference from strings that thousands of workloads share. */
function compact({ kind, namespace, name, reads, keys, optional, path }: Reference): Reference {
  return {
    kind,
    namespace: shared(namespace),
    name: shared(name),
    reads,
    keys: united(keys, keys),
    optional,
    path: shared(path),
  };
}

/**
 * The one copy of a string that the engine keeps for property names: it is made of one piece, every equal one is the
 * same, and it goes when nobody uses it any more. A table of our own would need to be emptied.
 */
function shared(text: string): string {
  const [internalized = text] = Object.keys({ [text]: undefined });
  return internalized;
}
