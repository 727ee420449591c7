import type { JsonSchema } from "./value.ts";

const label = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

/** On or off. */
export const toggle: JsonSchema = { type: "boolean" };

/** Any text, also none. */
export const text: JsonSchema = { type: "string" };

/** Such as annotations and labels: numbers and booleans would be refused by the API server. */
export const texts: JsonSchema = { type: "object", additionalProperties: { type: "string" } };

/** An object of Kubernetes' own, which the API server checks. */
export const object: JsonSchema = { type: "object" };

/** A list of such. */
export const objects: JsonSchema = { type: "array", items: { type: "object" } };

/** A list of names, or of objects with a name. */
export const names: JsonSchema = { type: "array", items: { type: ["string", "object"] } };

/** The name of a namespace. */
export const namespace: JsonSchema = { type: "string", pattern: `^${label}$` };

/** The name of an object, or nothing. */
export const optionalName: JsonSchema = {
  type: "string",
  maxLength: 253,
  pattern: "^([a-z0-9]([-.a-z0-9]*[a-z0-9])?)?$",
};

/** A name that a Service can have, or nothing. */
export const optionalLabel: JsonSchema = { type: "string", pattern: `^(${label})?$` };

/** The address of a page, without a fragment, or nothing. */
export const optionalUrl: JsonSchema = { type: "string", pattern: '^(https?://[^\\s"#]+)?$' };

/** A duration as Prometheus writes it, or nothing. */
export const optionalPrometheusDuration: JsonSchema = { type: "string", pattern: "^([0-9]+(ms|[smhdwy]))*$" };

/** A duration as Go writes it, or nothing. */
export const optionalDuration: JsonSchema = {
  type: "string",
  pattern: "^(0|(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)?$",
};
