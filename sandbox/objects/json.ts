/** Any JSON value. Stored values are never changed in place: a change builds a new value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; a field that is `undefined` counts as absent. */
export interface JsonObject {
  readonly [field: string]: Json | undefined;
}

/** A JSON object while it is being built. */
export type MutableJsonObject = { [field: string]: Json | undefined };

/** Reports whether `value` is a JSON object: neither null nor a list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether `value` is a JSON list. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns the value if it is an object, otherwise an empty object. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the value if it is a list, otherwise an empty list. */
export function listOf(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : [];
}

/** Returns the value if it is a string, otherwise an empty string. */
export function stringOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Returns the value at a path of field names; undefined if the path does not exist. */
export function valueAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value;
  for (const field of path) {
    if (!isObject(current)) return undefined;
    current = current[field];
  }
  return current;
}

/** The fields of an object that are present, with their values. */
function fieldsOf(object: JsonObject): [string, Json][] {
  return Object.entries(object).filter((field): field is [string, Json] => field[1] !== undefined);
}

/** Reports whether two JSON values are the same. The order of fields in an object does not matter; the order of items in a list does. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (isList(a)) return isList(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const fields = fieldsOf(a);
  return fields.length === fieldsOf(b).length && fields.every(([field, value]) => sameJson(value, b[field]));
}

/** Returns the object without these fields. */
export function without(object: JsonObject, ...fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}
