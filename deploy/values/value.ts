/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A JSON Schema, draft 7, with which Helm checks values. */
export type JsonSchema = { readonly [keyword: string]: Json };

/** One value of the chart. values.yaml, values.schema.json and the README are generated from these rows. */
export interface Value {
  /** Path with dots: `webhooks.enabled`. */
  readonly path: string;
  /** Heading of its section. */
  readonly section: string;
  readonly default: Json;
  readonly schema: JsonSchema;
  /** Description on one line: a verb or noun phrase that makes sense alone. */
  readonly help: string;
}
