import type { Value } from "./value.ts";

/** Values nested as in YAML, in the order of the first value of each object. */
export type Tree = ReadonlyMap<string, Value | Tree>;

/** Nests values by the dots of their paths. Throws an Error if one path is a prefix of another. */
export function treeOf(values: readonly Value[], depth = 0): Tree {
  const groups = Map.groupBy(values, ({ path }) => path.split(".")[depth] ?? "");
  const entries = [...groups].map(([name, inside]): [string, Value | Tree] => {
    const [first] = inside;
    const leaf = first?.path.split(".").length === depth + 1;
    if (leaf && inside.length > 1) throw new Error(`the value ${first.path} is a duplicate or contains other values`);
    return [name, leaf ? first : treeOf(inside, depth + 1)];
  });
  return new Map(entries);
}

/** Reports whether a node is an object of values. */
export function isTree(node: Value | Tree): node is Tree {
  return node instanceof Map;
}
