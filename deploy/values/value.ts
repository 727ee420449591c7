/** What JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A JSON Schema, draft 7, as Helm checks values by it. */
export type JsonSchema = { readonly [keyword: string]: Json };

/** One value of the chart. values.yaml, values.schema.json and the chart's README are made from these rows. */
export interface Value {
  /** Where it is, with dots: `webhooks.enabled`. */
  readonly path: string;
  /** The heading under which it is listed. */
  readonly section: string;
  readonly default: Json;
  readonly schema: JsonSchema;
  /** What it does, in a sentence or a few, on one line. */
  readonly help: string;
}
