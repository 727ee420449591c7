import type { JsonSchema, Value } from "./value.ts";
import { isTree, type Tree, treeOf } from "./values-tree.ts";

/** Returns values.schema.json, with which `helm install` rejects unknown and invalid values. */
export function valuesSchema(values: readonly Value[]): string {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", ...objectOf(treeOf(values), "") };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function objectOf(tree: Tree, path: string): JsonSchema {
  const properties = Object.fromEntries([...tree].map(([name, node]) => [name, schemaOf(node, `${path}${name}.`)]));
  // Helm passes the `global` values of a parent chart to its dependencies, and the switch `enabled`. Others may use any name there.
  const fromParent: JsonSchema =
    path === "" ? { enabled: { description: "Switch of a parent chart. No effect here." } } : {};
  return {
    type: "object",
    ...(path.startsWith("global.") ? {} : { additionalProperties: false }),
    required: [...tree].flatMap(([name, node]) => (isTree(node) ? [name] : [])),
    properties: { ...properties, ...fromParent },
  };
}

function schemaOf(node: Value | Tree, path: string): JsonSchema {
  return isTree(node) ? objectOf(node, path) : { description: node.help, ...node.schema };
}
