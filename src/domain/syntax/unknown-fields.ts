/** Returns a number of a status or spec; undefined if the value is not a number. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Returns the fields of a spec or status of unknown type; no fields if the value is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** Returns a text of a spec or status; "" if the value is not a text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
