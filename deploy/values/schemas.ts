import { receiverTypes } from "../../src/notify/formats/formats.ts";
import { outcomeNames } from "../../src/notify/notification/outcomes.ts";
import type { JsonSchema } from "./value.ts";

const label = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

/** On or off. */
export const toggle: JsonSchema = { type: "boolean" };

/** Any text, also an empty one. */
export const text: JsonSchema = { type: "string" };

/** Annotations and labels. The API server rejects numbers and booleans. */
export const texts: JsonSchema = { type: "object", additionalProperties: { type: "string" } };

/** An object of the Kubernetes API, which the API server checks. */
export const object: JsonSchema = { type: "object" };

/** A list of objects of the Kubernetes API. */
export const objects: JsonSchema = { type: "array", items: { type: "object" } };

/** A list of names, or of objects with a name. */
export const names: JsonSchema = { type: "array", items: { type: ["string", "object"] } };

/** The name of a namespace. */
export const namespace: JsonSchema = { type: "string", pattern: `^${label}$` };

/** The name of an object, or an empty text. */
export const optionalName: JsonSchema = {
  type: "string",
  maxLength: 253,
  pattern: "^([a-z0-9]([-.a-z0-9]*[a-z0-9])?)?$",
};

/** The name of a Service, or an empty text. */
export const optionalLabel: JsonSchema = { type: "string", pattern: `^(${label})?$` };

/** A URL without a fragment, or an empty text. */
export const optionalUrl: JsonSchema = { type: "string", pattern: '^(https?://[^\\s"#]+)?$' };

/** A duration in the form of Prometheus, or an empty text. */
export const optionalPrometheusDuration: JsonSchema = { type: "string", pattern: "^([0-9]+(ms|[smhdwy]))*$" };

/** A duration in the form of Go, or an empty text. */
export const optionalDuration: JsonSchema = {
  type: "string",
  pattern: "^(0|(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)?$",
};

/** The file of `--notify`. Wave checks everything else when it starts. */
export const notifyFile: JsonSchema = {
  type: "object",
  properties: {
    receivers: {
      type: "array",
      items: {
        type: "object",
        properties: {
          type: { enum: receiverTypes },
          outcomes: { type: "array", minItems: 1, items: { enum: ["*", ...outcomeNames] } },
        },
      },
    },
  },
};
