import { type ListKeys, listKeys } from "../../types/list-keys.ts";
import { type Json, type JsonObject, objectOf } from "../objects/json.ts";

/** The keys that identify the items of a list when two versions of it are merged. */
export type ListMerge =
  /** Items with the same values in these fields are the same item. */
  | ({ readonly type: "map" } & ListKeys)
  /** Values, each at most once. */
  | { readonly type: "set" }
  /** The list is replaced as a whole. */
  | { readonly type: "atomic" };

/**
 * Returns how the API merges the list in this field. Two lists of one name, such as the `ports` of a container and of a Service,
 * differ in the key of their items.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
 */
export function listMerge(field: string, items: readonly Json[]): ListMerge {
  if (field === "finalizers") return { type: "set" };
  const rules = Object.hasOwn(listKeys, field) ? listKeys[field] : undefined;
  const hasKey = (key = "") => items.some((item) => key in objectOf(item));
  const rule = rules?.find(({ apply }) => hasKey(apply[0])) ?? rules?.at(-1);
  return rule === undefined ? { type: "atomic" } : { type: "map", ...rule };
}

/** Returns the values that identify an item. A port without a protocol has TCP. */
export function itemKeys(item: Json, { apply }: ListKeys): JsonObject {
  const fields = objectOf(item);
  return Object.fromEntries(apply.map((key) => [key, fields[key] ?? (key === "protocol" ? "TCP" : undefined)]));
}

/** Objects that belong to one field manager as a whole, by the name of their field. */
const atomicObjects = new Set([
  ...["selector", "fieldRef", "configMapKeyRef", "secretKeyRef", "resourceFieldRef", "involvedObject", "related"],
  ...["nodeSelector", "labelSelector", "namespaceSelector", "objectSelector", "series", "source"],
]);

/** Reports whether the object in this field is owned as a whole rather than field by field. */
export function isAtomicObject(field: string): boolean {
  return atomicObjects.has(field);
}
