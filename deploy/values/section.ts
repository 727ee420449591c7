import type { Json, JsonSchema, Value } from "./value.ts";

type Row = readonly [path: string, defaultValue: Json, schema: JsonSchema, help: string];

/** Returns the values under one heading. Each row has path, default, schema and description. */
export function section(name: string, ...rows: readonly Row[]): readonly Value[] {
  return rows.map(([path, value, schema, help]) => ({ path, section: name, default: value, schema, help }));
}
