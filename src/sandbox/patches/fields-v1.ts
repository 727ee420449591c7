import { type JsonObject, type MutableJsonObject, objectOf } from "../json.ts";
import { below, type FieldSet, partsOf } from "./field-set.ts";

/** The set in the form that managedFields carries. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const root: MutableJsonObject = {};
  for (const path of [...set].sort()) {
    let node = root;
    for (const part of partsOf(path)) {
      const next: MutableJsonObject = { ...objectOf(node[part]) };
      node[part] = next;
      node = next;
    }
    node["."] = {};
  }
  return withoutLoneDots(root);
}

/** `{".": {}}` alone is written `{}`. */
function withoutLoneDots(node: JsonObject): JsonObject {
  const entries = Object.entries(node);
  if (entries.length === 1 && node["."] !== undefined) return {};
  return Object.fromEntries(entries.map(([part, value]) => [part, withoutLoneDots(objectOf(value))]));
}

/** Reads the form that managedFields carries. */
export function fromFieldsV1(fields: JsonObject): FieldSet {
  const set = new Set<string>();
  const visit = (path: string, node: JsonObject): void => {
    const parts = Object.entries(node);
    if (path !== "" && parts.length === 0) set.add(path);
    for (const [part, value] of parts) {
      if (part === ".") set.add(path);
      else visit(below(path, part), objectOf(value));
    }
  };
  visit("", fields);
  return set;
}
