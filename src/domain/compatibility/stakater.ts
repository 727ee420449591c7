import { type ConfigKind, configKinds } from "../references/references.ts";
import type { CompatibilityRow, CompatibilitySettings } from "./directive.ts";

/** The end of the prefix of all Stakater Reloader annotations. */
const domain = "reloader.stakater.com";

/** Annotation of a ConfigMap or Secret: "true" marks it for workloads with the `search` annotation. */
export const stakaterMatch = "reloader.stakater.com/match";

/** Annotation of a ConfigMap or Secret: "true" excludes it for all workloads. */
export const stakaterIgnore = "reloader.stakater.com/ignore";

/** Annotation of a workload or its pod template: "true" opts in, "false" opts out. */
export const stakaterAuto = "reloader.stakater.com/auto";

/** Annotation of an Argo Rollout: "restart" restarts Pods without a change of the pod template. */
export const rolloutStrategy = "reloader.stakater.com/rollout-strategy";

const search = `${domain}/search`;
const pausePeriod = `deployment.${domain}/pause-period`;

const pluralOf = (kind: ConfigKind) => (kind.endsWith("s") ? `${kind}es` : `${kind}s`);

/** The annotations for one kind of object. */
export interface StakaterKind {
  readonly kind: ConfigKind;
  readonly auto: string;
  readonly reload: string;
  readonly exclude: string;
}

const kinds: readonly StakaterKind[] = configKinds.map((kind) => ({
  kind,
  auto: `${kind.toLowerCase()}.${domain}/auto`,
  reload: `${kind.toLowerCase()}.${domain}/reload`,
  exclude: `${pluralOf(kind).toLowerCase()}.exclude.${domain}/reload`,
}));

/** The names of annotations that {@link stakaterRows} describes. */
export const stakaterNames = { kinds, search, pausePeriod } as const;

/** Limits of one workload: number of patterns, and characters of each pattern. */
export const patternLimits = { patterns: 100, characters: 256 };

/** Reports whether a text is true in the syntax of Go (https://pkg.go.dev/strconv#ParseBool). */
export function isTrue(text: string): boolean {
  return ["1", "t", "T", "TRUE", "true", "True"].includes(text);
}

const isFalse = (text: string) => ["", "0", "f", "F", "FALSE", "false", "False"].includes(text);
const isSwitch = (text: string) => isTrue(text) || isFalse(text);
// Reloader compares these values with "true".
const isExactly = (text: string) => text === "true" || isFalse(text);

/** The Stakater Reloader annotations that Wave reads. */
export const stakaterRows: readonly CompatibilityRow[] = [
  { name: stakaterAuto, on: ["workload", "template"], values: '"true" or "false"', accepts: isSwitch },
  ...kinds.map((row) => ({
    name: row.auto,
    on: ["workload", "template"] as const,
    values: '"true" or "false"',
    accepts: isSwitch,
  })),
  { name: search, on: ["workload", "template"], values: '"true"', accepts: isExactly },
  ...kinds.map((row) => ({
    name: row.reload,
    on: ["workload", "template"] as const,
    values: "names or regular expressions, separated by commas",
  })),
  ...kinds.map((row) => ({ name: row.exclude, on: ["workload"] as const, values: "names, separated by commas" })),
  { name: pausePeriod, on: ["workload"], values: 'a duration such as "5m"' },
  {
    name: rolloutStrategy,
    on: ["workload"],
    values: '"rollout" or "restart"',
    accepts: (text) => ["", "rollout", "restart"].includes(text),
  },
  { name: stakaterMatch, on: ["config"], values: '"true"', accepts: isExactly },
  { name: stakaterIgnore, on: ["config"], values: '"true"', accepts: isExactly },
];

/** Reports whether a ConfigMap or Secret has one of these marks. Always false if compatibility with Stakater Reloader is off. */
export function isMarked(
  annotations: Readonly<Record<string, string>> | null | undefined,
  mark: typeof stakaterMatch | typeof stakaterIgnore,
  settings: CompatibilitySettings | undefined,
): boolean {
  return settings?.understood.includes("stakater") === true && annotations?.[mark] === "true";
}
