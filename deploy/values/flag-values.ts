import { flagsWithoutEffect } from "../../src/cli/flags/compatibility-flags.ts";
import type { Flag } from "../../src/cli/flags/flag-types.ts";
import { runFlags } from "../../src/cli/flags/run-flags.ts";
import { compatibilities } from "../../src/domain/compatibility/directive.ts";
import { address, duration, namespace, optionalLabel, optionalName, selector, window } from "./schemas.ts";
import type { Json, JsonSchema, Value } from "./value.ts";

/** A flag of `wave run` and its value in the chart. */
export interface FlagValue extends Value {
  readonly flag: string;
  /** The default of the flag, as text. The chart omits the argument if the value equals it. */
  readonly left: string;
  /** Template expression of the argument, if the argument is not just the value. */
  readonly expression?: string;
}

/** Differences between the value and the row of the flag. */
interface Placement extends Partial<Pick<FlagValue, "path" | "default" | "schema" | "help" | "expression">> {}

const inReleaseNamespace = "Empty: the namespace of the release.";

/** Flags that must match objects of the chart. */
const placements: Readonly<Record<string, Placement>> = {
  "update-rate": {
    // In the chart of Wave 0.11, 0 was unlimited. The flag itself rejects 0.
    schema: {
      anyOf: [
        { type: "number", minimum: 0 },
        { type: "string", pattern: "^(unlimited|[0-9]*\\.?[0-9]+)$" },
      ],
    },
    expression: `.Values.updateRate | toString | eq "0" | ternary "unlimited" .Values.updateRate`,
  },
  compatibility: {
    schema: { type: "array", uniqueItems: true, items: { enum: compatibilities } },
    help: "Controllers whose annotations Wave understands: `wave`, `sap` (pod-reloader), `stakater` (Reloader). Stop the other controller first; otherwise both roll workloads. Empty: wave.",
  },
  "workload-kinds": {
    schema: {
      type: "array",
      uniqueItems: true,
      items: {
        type: "string",
        pattern: "^([a-z0-9-]+[.][a-z0-9.-]+|[a-z0-9.-]+/v[a-z0-9]+/[a-z0-9-]+)(=(/[A-Za-z][A-Za-z0-9_-]*)+)?$",
      },
    },
  },
  "hash-key-secret": {
    schema: optionalName,
    expression: `.Values.hashKeySecret | empty | ternary "" (printf "%s/%s" .Release.Namespace .Values.hashKeySecret)`,
    help: "Name of the Secret with the hash key, in the namespace of the release, for example wave-hash-key. With a key, hashes reveal nothing about their content. Empty: hashes have no key.",
  },
  notify: {
    path: "notify.existingSecret",
    default: "",
    schema: optionalName,
    expression: `include "wave.notifyFile" .`,
    help: "Name of a Secret in the namespace of the release. Its keys become files in /notify. If `notify.config` is empty, the key `notify.yaml` has the receivers. Other keys can have URLs for `urlFile`.",
  },
  soak: { schema: { anyOf: [duration, { const: 0 }, { const: "0" }, { const: "" }] } },
  "gate-prometheus-url": { schema: { type: "string", pattern: "^(https?://[^@?#]+)?$" } },
  "pin-config": { path: "pinConfig.enabled" },
  "enable-webhooks": { path: "webhooks.enabled" },
  "webhook-tls-directory": {
    expression: `.Values.webhooks.certManager.enabled | ternary "/certificates" .Values.webhooks.tlsDirectory`,
  },
  "webhook-service-name": {
    default: "",
    schema: optionalLabel,
    expression: `include "wave.webhook" .`,
    help: "Name of the webhook Service and of the MutatingWebhookConfiguration, and prefix of the name of the authority Secret. Empty: the name of the release with the suffix -webhook.",
  },
  "leader-election": { path: "leaderElection.enabled", default: true },
  "leader-election-id": {
    default: "",
    schema: optionalName,
    expression: `include "wave.lease" .`,
    help: "Name of the Lease, which Wave creates. Empty: the name of the release.",
  },
  "leader-election-namespace": { schema: optionalLabel, help: `Namespace of the Lease. ${inReleaseNamespace}` },
};

const outside = "only for a Wave outside the cluster";

/** Flags without a value in the chart, and why. */
export const noValues: Readonly<Record<string, string>> = {
  server: outside,
  token: outside,
  as: outside,
  "as-group": outside,
  "insecure-skip-tls-verify": outside,
  "beside-installed": outside,
  "webhook-url": outside,
  "enable-ha": "the value leaderElection.enabled has the same effect",
  "is-Argo-Rollouts": "the value workloadKinds has the same effect",
  "ignored-workload-types": "workloadKinds already names only the wanted kinds",
  ...Object.fromEntries(Object.keys(flagsWithoutEffect).map((name) => [name, "the flag has no effect"])),
};

/** The value of each flag of `wave run`, in the order of `--help`. */
export const flagValues: readonly FlagValue[] = Object.entries<Flag<unknown>>(runFlags)
  .filter(([name]) => !Object.hasOwn(noValues, name))
  .map(([name, flag]) => ({
    flag: name,
    section: flag.group,
    path: pathOf(name),
    left: String(defaultOf(flag)),
    default: defaultOf(flag),
    schema: schemaOf(flag),
    help: flag.default === undefined && flag.shownDefault ? `${flag.help} Empty: ${flag.shownDefault}.` : flag.help,
    ...placements[name],
  }));

/** `webhook-bind-address` → `webhooks.bindAddress`, `gate-required` → `gate.required`, `update-rate` → `updateRate`. */
function pathOf(name: string): string {
  const [, prefix, rest] = /^(webhook-|leader-election-|gate-|)(.*)$/.exec(name) ?? [];
  const objects: Readonly<Record<string, string>> = { "webhook-": "webhooks.", "gate-": "gate." };
  const object = prefix === "leader-election-" ? "leaderElection." : (objects[prefix ?? ""] ?? "");
  return object + rest?.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function defaultOf(flag: Flag<unknown>): Json {
  const { default: value, placeholder } = flag;
  if (value === undefined) return isList(flag) ? [] : "";
  if (typeof value === "boolean" || (placeholder === "NUMBER" && Number.isFinite(value))) return value as Json;
  return flag.shownDefault ?? String(value);
}

function isList(flag: Flag<unknown>): boolean {
  return flag.isList === true;
}

/** Returns a schema as strict as the placeholder in `--help` allows. Wave rejects other invalid values when it starts. */
function schemaOf(flag: Flag<unknown>): JsonSchema {
  const { placeholder, completes } = flag;
  if (placeholder === undefined) return { type: "boolean" };
  if (isList(flag)) return { type: "array", uniqueItems: true, items: namespace };
  if (completes !== undefined && typeof completes !== "string") {
    return { enum: [...completes, ...(flag.default === undefined ? [""] : [])] };
  }
  const zero = flag.parse("0") === undefined ? [] : [{ const: 0 }, { const: "0" }];
  if (placeholder === "DURATION") return { anyOf: [duration, ...zero] };
  if (placeholder === "ADDRESS") return { anyOf: [address, ...zero] };
  if (placeholder === "NUMBER") return numberSchema(flag);
  if (placeholder === "WINDOW") return window;
  if (placeholder === "SELECTOR") return selector;
  return { type: ["string", "number"] };
}

/** Returns the schema of a number, found by parsing sample values. */
function numberSchema({ parse }: Flag<unknown>): JsonSchema {
  const whole = parse("0.5") === undefined;
  return {
    type: whole ? "integer" : "number",
    ...(parse("0") === undefined ? { [whole ? "minimum" : "exclusiveMinimum"]: whole ? 1 : 0 } : { minimum: 0 }),
  };
}
