import { receiverTypes } from "../../src/notify/formats/formats.ts";
import { outcomeNames } from "../../src/notify/notification/notification.ts";
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

const durationText = "(([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+";

/** A duration in the form of Go, or an empty text. */
export const optionalDuration: JsonSchema = { type: "string", pattern: `^(0|${durationText})?$` };

/** A duration in the form of Go, not 0, or an empty text. */
export const duration: JsonSchema = { type: "string", pattern: `^(${durationText})?$` };

const port = "([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";

/** An address to listen on. */
export const address: JsonSchema = {
  type: "string",
  pattern: `^(\\[[0-9a-fA-F:.]+\\]|[^\\s:[\\]/]*):${port}$`,
};

const day = `(${["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map(anyCase).join("|")})`;
const days = `${day}(-${day})?`;
const time = "([01][0-9]|2[0-3]):[0-5][0-9]";
const range = `${days}(,${days})*\\s+${time}-(${time}|24:00)(\\s+[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*)?`;

/** A window, or an empty text. Wave also checks the name of the time zone when it starts. */
export const window: JsonSchema = { type: "string", pattern: `^\\s*(${range}\\s*(;\\s*(${range}\\s*)?)*)?$` };

const labelName = "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?";
const labelKey = `(${labelName}/)?${labelName}`;
const labelValue = `(${labelName})?`;
const requirement = [
  `!?\\s*${labelKey}`,
  `${labelKey}\\s*(=|==|!=|:)\\s*${labelValue}`,
  `${labelKey}\\s*(=|==|:)\\s*\\*`,
  `${labelKey}\\s+(in|notin)\\s*\\(\\s*${labelValue}(\\s*,\\s*${labelValue})*\\s*\\)`,
].join("|");

/** A label selector as text, or an empty text. */
export const selector: JsonSchema = {
  type: "string",
  pattern: `^\\s*((${requirement})(\\s*,\\s*(${requirement}))*\\s*,?)?\\s*$`,
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

/** Returns a pattern of a word in any case. The patterns of JSON Schema have no flags. */
function anyCase(word: string): string {
  return Array.from(word, (letter) => `[${letter.toUpperCase()}${letter}]`).join("");
}
