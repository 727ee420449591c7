import type { JsonSchema, Value } from "./value.ts";
import { isTree, type Tree, treeOf } from "./values-tree.ts";

/** values.schema.json: a value that does not exist, or cannot be meant, is an error of `helm install`. */
export function valuesSchema(values: readonly Value[]): string {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", ...objectOf(treeOf(values), "") };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function objectOf(tree: Tree, path: string): JsonSchema {
  const properties = Object.fromEntries([...tree].map(([name, node]) => [name, schemaOf(node, path + name)]));
  // Helm lends a chart that is part of another what its parent calls global, and the switch that turns it on and off.
  const lent: JsonSchema =
    path === "" ? { enabled: { description: "For a parent chart; it has no effect here." } } : {};
  return {
    type: "object",
    ...(path === "global" ? {} : { additionalProperties: false }),
    required: [...tree].flatMap(([name, node]) => (isTree(node) ? [name] : [])),
    properties: { ...properties, ...lent },
  };
}

function schemaOf(node: Value | Tree, path: string): JsonSchema {
  return isTree(node) ? objectOf(node, path) : { description: node.help, ...node.schema };
}
