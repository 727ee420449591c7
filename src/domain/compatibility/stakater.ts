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

const whereOn = (kind: ConfigKind) => (kind === "SecretProviderClass" ? ", with `--enable-csi-integration`" : "");
const onlyRotations =
  "A rotation that many Pods report is one change. Wave also rolls for a rotation that happened while Wave was not running.";

const ofNamedConfigMaps = {
  means:
    "Rolls the workload when one of these ConfigMaps in its namespace changes, even if the pod spec does not read it. Wave does not wait for a missing object.",
  unlike: `An expression must match the whole name (in Reloader, "a|b" also matches "ab"). At most ${patternLimits.patterns} expressions, each with at most ${patternLimits.characters} characters.`,
};

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
  {
    name: stakaterAuto,
    on: ["workload", "template"],
    values: '"true" or "false"',
    accepts: isSwitch,
    means:
      "Rolls the workload when a ConfigMap or Secret that its pod spec reads changes. With `--enable-csi-integration`, also for SecretProviderClasses.",
    unlike:
      "Keys that no container reads are not tracked, except in volumes that no container mounts. Secrets that only pull images are not tracked.",
  },
  ...kinds.map((row) => ({
    name: row.auto,
    on: ["workload", "template"] as const,
    values: '"true" or "false"',
    accepts: isSwitch,
    means: `The same for ${pluralOf(row.kind)} only${whereOn(row.kind)}.`,
    ...(row.kind === "SecretProviderClass" && { unlike: onlyRotations }),
  })),
  {
    name: search,
    on: ["workload", "template"],
    values: '"true"',
    accepts: isExactly,
    means: `Tracks only the objects in the pod spec that have ${stakaterMatch}.`,
    unlike: "Does not apply to SecretProviderClasses, because Wave does not read those objects.",
  },
  ...kinds.map((row) => ({
    name: row.reload,
    on: ["workload", "template"] as const,
    values: "names or regular expressions, separated by commas",
    ...(row.kind === "ConfigMap"
      ? ofNamedConfigMaps
      : { means: `The same for ${pluralOf(row.kind)}${whereOn(row.kind)}.` }),
    ...(row.kind === "SecretProviderClass" && { unlike: onlyRotations }),
  })),
  ...kinds.map((row) => ({
    name: row.exclude,
    on: ["workload"] as const,
    values: "names, separated by commas",
    means: `Stakater annotations do not track these ${pluralOf(row.kind)}.`,
  })),
  {
    name: pausePeriod,
    on: ["workload"],
    values: 'a duration such as "5m"',
    means: "Minimum time between two rollouts of the workload.",
    unlike:
      "Wave does not pause Deployments. Wave unpauses a Deployment that Reloader left paused. Applies to every kind of workload.",
  },
  {
    name: rolloutStrategy,
    on: ["workload"],
    values: '"rollout" or "restart"',
    accepts: (text) => ["", "rollout", "restart"].includes(text),
    means:
      "For Argo Rollouts, if --workload-kinds includes them: `restart` sets spec.restartAt instead of changing the pod template.",
    unlike: "With `restart`, the hash is an annotation of the Rollout itself. The first hash restarts no Pod.",
  },
  {
    name: stakaterMatch,
    on: ["config"],
    values: '"true"',
    accepts: isExactly,
    means: `Workloads with ${search} track this object.`,
  },
  {
    name: stakaterIgnore,
    on: ["config"],
    values: '"true"',
    accepts: isExactly,
    means: "No workload tracks this object.",
    unlike: "Also applies with Wave annotations.",
  },
];

/** Reports whether a ConfigMap or Secret has one of these marks. Always false if compatibility with Stakater Reloader is off. */
export function isMarked(
  annotations: Readonly<Record<string, string>> | null | undefined,
  mark: typeof stakaterMatch | typeof stakaterIgnore,
  settings: CompatibilitySettings | undefined,
): boolean {
  return settings?.understood.includes("stakater") === true && annotations?.[mark] === "true";
}
