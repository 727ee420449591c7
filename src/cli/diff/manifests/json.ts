import { listKeys } from "../../../../types/list-keys.ts";

/** Any JSON value; a field that is undefined is absent. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | JsonMap;

/** A JSON object. A field that is undefined is absent. */
export interface JsonMap {
  readonly [name: string]: Json;
}

/** Reports whether a value is a JSON object: neither null nor a list. */
export function isMap(value: Json): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether a value is a JSON list. Keeps the type of the items, unlike `Array.isArray`. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns the function that reads the merge key of an item; undefined if the list is replaced as a whole. */
export function itemKeys(list: string): ((item: Json) => Json) | undefined {
  const rules = Object.hasOwn(listKeys, list) ? (listKeys[list] ?? []) : [];
  const keys = rules.flatMap(({ patch }) => patch ?? []);
  if (keys.length === 0) return undefined;
  return (item) => (isMap(item) ? keys.map((key) => item[key]).find((value) => value !== undefined) : undefined);
}
