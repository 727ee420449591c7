import { meaningless } from "../../src/cli/flags/compatibility-flags.ts";
import type { Flag } from "../../src/cli/flags/flag-types.ts";
import { runFlags } from "../../src/cli/flags/run-flags.ts";
import { compatibility } from "../../src/domain/compatibility/settings.ts";
import { namespace, optionalDuration, optionalLabel, optionalName } from "./schemas.ts";
import type { Json, JsonSchema, Value } from "./value.ts";

/** A flag of `wave run` and the value that stands for it. */
export interface FlagValue extends Value {
  readonly flag: string;
  /** What the flag is where the value is this, as text: then the argument is left out. */
  readonly left: string;
  /** Where the argument is more than the value: what gives it, in the language of templates. */
  readonly expression?: string;
}

/** What the chart knows better than the row of the flag. */
interface Placement extends Partial<Pick<FlagValue, "path" | "default" | "schema" | "help" | "expression">> {}

const inReleaseNamespace = "Empty: the release's namespace.";

/** Flags whose objects the chart installs too, so that both must agree. */
const placements: Readonly<Record<string, Placement>> = {
  "update-rate": {
    // The chart of Wave 0.11 said so of 0. The flag itself refuses it.
    schema: {
      anyOf: [
        { type: "number", minimum: 0 },
        { type: "string", pattern: "^(unlimited|[0-9]*\\.?[0-9]+)$" },
      ],
    },
    expression: `.Values.updateRate | toString | eq "0" | ternary "unlimited" .Values.updateRate`,
  },
  compatibility: {
    schema: { type: "array", uniqueItems: true, items: { enum: compatibility } },
    help: "Whose annotations are understood: `wave`, its own; `sap`, pod-reloader's; `stakater`, Reloader's. Not while that one still runs: both would roll. Empty: wave.",
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
    help: "A name for the Secret with the key of hashes, such as wave-hash-key, in the release's namespace: then hashes tell nothing about what they are of. Empty: hashes have no key.",
  },
  notify: {
    path: "notify.existingSecret",
    default: "",
    schema: optionalName,
    expression: `include "wave.notifyFile" .`,
    help: "A Secret of the release's namespace whose keys are files in /notify: `notify.yaml` says whom to tell what, where `notify.config` does not; others hold URLs, for `urlFile`.",
  },
  "enable-webhooks": { path: "webhooks.enabled" },
  "webhook-tls-directory": {
    expression: `.Values.webhooks.certManager.enabled | ternary "/certificates" .Values.webhooks.tlsDirectory`,
  },
  "webhook-service-name": {
    default: "",
    schema: optionalLabel,
    expression: `include "wave.webhook" .`,
    help: "Name of the webhook's Service, of its MutatingWebhookConfiguration, and the beginning of the name of its authority Secret. Empty: the release's name and -webhook.",
  },
  "leader-election": { path: "leaderElection.enabled", default: true },
  "leader-election-id": {
    default: "",
    schema: optionalName,
    expression: `include "wave.lease" .`,
    help: "Name of the Lease, which Wave makes. Empty: the release's name.",
  },
  "leader-election-namespace": { schema: optionalLabel, help: `Namespace of the Lease. ${inReleaseNamespace}` },
};

/** Flags that are no value, and why. */
export const noValues: Readonly<Record<string, string>> = {
  "webhook-url": "it is for a Wave outside the cluster",
  "enable-ha": "leaderElection.enabled is the same",
  "is-Argo-Rollouts": "workloadKinds is the same",
  "ignored-workload-types": "workloadKinds names no more than what is wanted",
  ...Object.fromEntries(Object.keys(meaningless).map((name) => [name, "it has no effect"])),
};

/** The value that stands for each flag of `wave run`, in the order of `--help`. */
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

/** `webhook-bind-address` → `webhooks.bindAddress`, `update-rate` → `updateRate`. */
function pathOf(name: string): string {
  const [, prefix, rest] = /^(webhook-|leader-election-|)(.*)$/.exec(name) ?? [];
  const object = prefix === "webhook-" ? "webhooks." : prefix === "" ? "" : "leaderElection.";
  return object + rest?.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function defaultOf(flag: Flag<unknown>): Json {
  const { default: value, placeholder } = flag;
  if (value === undefined) return isList(flag) ? [] : "";
  if (typeof value === "boolean" || (placeholder === "NUMBER" && Number.isFinite(value))) return value as Json;
  return flag.shownDefault ?? String(value);
}

function isList({ placeholder }: Flag<unknown>): boolean {
  return placeholder?.endsWith(",…") ?? false;
}

/** As strict as what `--help` shows for the value allows to be; Wave itself refuses the rest when it starts. */
function schemaOf(flag: Flag<unknown>): JsonSchema {
  const { placeholder } = flag;
  if (placeholder === undefined) return { type: "boolean" };
  if (isList(flag)) return { type: "array", uniqueItems: true, items: namespace };
  if (placeholder.includes("|")) {
    return { enum: [...placeholder.split("|"), ...(flag.default === undefined ? [""] : [])] };
  }
  if (placeholder === "DURATION") return { anyOf: [optionalDuration, { const: 0 }] };
  if (placeholder === "ADDRESS") return { anyOf: [{ type: "string", pattern: "^(0|.*:[0-9]{1,5})$" }, { const: 0 }] };
  if (placeholder === "NUMBER") return numberSchema(flag);
  return { type: ["string", "number"] };
}

/** What a row allows of numbers is told by what it makes of some. */
function numberSchema({ parse }: Flag<unknown>): JsonSchema {
  const whole = parse("0.5") === undefined;
  return {
    type: whole ? "integer" : "number",
    ...(parse("0") === undefined ? { [whole ? "minimum" : "exclusiveMinimum"]: whole ? 1 : 0 } : { minimum: 0 }),
  };
}
