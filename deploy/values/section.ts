import type { Json, JsonSchema, Value } from "./value.ts";

type Row = readonly [path: string, defaultValue: Json, schema: JsonSchema, help: string];

/** Values that are listed under one heading: each as its path, its default, what is allowed, and what it does. */
export function section(name: string, ...rows: readonly Row[]): readonly Value[] {
  return rows.map(([path, value, schema, help]) => ({ path, section: name, default: value, schema, help }));
}
