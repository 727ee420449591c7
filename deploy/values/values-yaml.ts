import { stringify } from "yaml";
import type { Value } from "./value.ts";
import { isTree, type Tree, treeOf } from "./values-tree.ts";

const width = 120;

/** Returns values.yaml: each value with its default and description. */
export function valuesYaml(values: readonly Value[], head: string): string {
  let section = "";
  const parts = [...treeOf(values)].map(([name, node]) => {
    const first = firstOf(node);
    const heading = first.section === section ? "" : `\n## ${first.section}\n`;
    section = first.section;
    return `${heading}\n${lines(name, node, "").join("\n")}`;
  });
  return `${comment(head, "").join("\n")}\n${parts.join("\n")}\n`;
}

function firstOf(node: Value | Tree): Value {
  if (!isTree(node)) return node;
  const [first] = node.values();
  if (first === undefined) throw new Error("an object of values is empty");
  return firstOf(first);
}

function lines(name: string, node: Value | Tree, indent: string): readonly string[] {
  if (isTree(node)) {
    const inside = [...node].flatMap(([each, child]) => lines(each, child, `${indent}  `));
    return [`${indent}${name}:`, ...inside];
  }
  const text = stringify({ [name]: node.default }, { lineWidth: 0, version: "1.1" }).trimEnd();
  return [...comment(node.help, indent), ...text.split("\n").map((line) => indent + line)];
}

function comment(text: string, indent: string): readonly string[] {
  const made: string[] = [];
  for (const word of text.split(" ")) {
    const last = made.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) made[made.length - 1] = `${last} ${word}`;
    else made.push(`${indent}# ${word}`);
  }
  return made;
}
