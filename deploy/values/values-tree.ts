import type { Value } from "./value.ts";

/** Values as YAML nests them: those of one object together, in the order of the first of each. */
export type Tree = ReadonlyMap<string, Value | Tree>;

/** Nests values by the dots of their paths. Throws where one path is part of another. */
export function treeOf(values: readonly Value[], depth = 0): Tree {
  const groups = Map.groupBy(values, ({ path }) => path.split(".")[depth] ?? "");
  const entries = [...groups].map(([name, inside]): [string, Value | Tree] => {
    const [first] = inside;
    const leaf = first?.path.split(".").length === depth + 1;
    if (leaf && inside.length > 1) throw new Error(`the value ${first.path} is there twice, or has others in it`);
    return [name, leaf ? first : treeOf(inside, depth + 1)];
  });
  return new Map(entries);
}

/** Whether a node is an object of values, and no value. */
export function isTree(node: Value | Tree): node is Tree {
  return node instanceof Map;
}
