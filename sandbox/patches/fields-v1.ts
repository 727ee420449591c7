import { type JsonObject, type MutableJsonObject, objectOf } from "../objects/json.ts";
import { below, type FieldSet, partsOf } from "./field-set.ts";

/** Entries that were written or read once: an entry of managedFields stays the same object until it changes. */
const known = new WeakMap<JsonObject, FieldSet>();

/** Encodes a set of fields as `fieldsV1` of managedFields. */
export function toFieldsV1(set: FieldSet): JsonObject {
  const root: Node = { children: new Map(), isField: false };
  for (const path of [...set].sort()) {
    let node = root;
    for (const part of partsOf(path)) {
      let next = node.children.get(part);
      if (next === undefined) {
        next = { children: new Map(), isField: false };
        node.children.set(part, next);
      }
      node = next;
    }
    node.isField = true;
  }
  const fields = written(root);
  known.set(fields, set);
  return fields;
}

interface Node {
  readonly children: Map<string, Node>;
  isField: boolean;
}

/** A field without owned fields below it is written `{}`; a field with owned fields below it has a dot. */
function written({ children, isField }: Node): JsonObject {
  const fields: MutableJsonObject = {};
  if (isField && children.size > 0) fields["."] = {};
  for (const [part, child] of children) fields[part] = written(child);
  return fields;
}

/** Reads the form that managedFields carries. */
export function fromFieldsV1(fields: JsonObject): FieldSet {
  const before = known.get(fields);
  if (before !== undefined) return before;
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
  known.set(fields, set);
  return set;
}
