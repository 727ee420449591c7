import type { ConfigKind } from "../references/references.ts";
import type { CompatibilityRow, CompatibilitySettings } from "./directive.ts";

/** What every annotation of Stakater's Reloader ends with, before its slash. */
const domain = "reloader.stakater.com";

/** On a ConfigMap or Secret: "true" makes it count for workloads that search for such. */
export const stakaterMatch = "reloader.stakater.com/match";

/** On a ConfigMap or Secret: "true" makes it count for nobody. */
export const stakaterIgnore = "reloader.stakater.com/ignore";

/** On a workload or its pod template: whether it opts in. */
export const stakaterAuto = "reloader.stakater.com/auto";

/** On a Rollout of Argo Rollouts: "restart" has its Pods restarted, with no change of its pod template. */
export const rolloutStrategy = "reloader.stakater.com/rollout-strategy";

const search = `${domain}/search`;
const pausePeriod = `deployment.${domain}/pause-period`;

/** The annotations of one kind of object. */
export interface KindRow {
  readonly kind: ConfigKind;
  readonly auto: string;
  readonly reload: string;
}

const kinds: readonly KindRow[] = [
  {
    kind: "ConfigMap",
    auto: `configmap.${domain}/auto`,
    reload: `configmap.${domain}/reload`,
  },
  {
    kind: "Secret",
    auto: `secret.${domain}/auto`,
    reload: `secret.${domain}/reload`,
  },
  {
    kind: "SecretProviderClass",
    auto: `secretproviderclass.${domain}/auto`,
    reload: `secretproviderclass.${domain}/reload`,
  },
];

const excludeOf: Readonly<Record<ConfigKind, string>> = {
  ConfigMap: `configmaps.exclude.${domain}/reload`,
  Secret: `secrets.exclude.${domain}/reload`,
  SecretProviderClass: `secretproviderclasses.exclude.${domain}/reload`,
};

/** Those that {@link stakaterRows} describes. */
export const stakaterNames = { kinds, excludeOf, search, pausePeriod } as const;

/** How many patterns one workload may have, and how many characters each. */
export const mostPatterns = { patterns: 100, characters: 256 };

const pluralOf = (kind: ConfigKind) => (kind.endsWith("s") ? `${kind}es` : `${kind}s`);
const whereOn = (kind: ConfigKind) => (kind === "SecretProviderClass" ? ", with `--enable-csi-integration`" : "");
const onlyRotations = "what many Pods report of a rotation is one change, and what happened while Wave was away counts";

/** The annotations of Stakater's Reloader that Wave reads. */
export const stakaterRows: readonly CompatibilityRow[] = [
  {
    name: stakaterAuto,
    on: ["workload", "template"],
    values: '"true" or "false"',
    means:
      "it is rolled when a ConfigMap or Secret changes that its pod spec reads, or with `--enable-csi-integration` a SecretProviderClass",
    unlike: "keys that no container sees do not count; nor do Secrets that only pull images",
  },
  ...kinds.map((row) => ({
    name: row.auto,
    on: ["workload", "template"] as const,
    values: '"true" or "false"',
    means: `the same of ${pluralOf(row.kind)} alone${whereOn(row.kind)}`,
    ...(row.kind === "SecretProviderClass" && { unlike: onlyRotations }),
  })),
  {
    name: search,
    on: ["workload", "template"],
    values: '"true"',
    means: `of what its pod spec reads those count that carry ${stakaterMatch}`,
    unlike: "no SecretProviderClass does: Wave does not read them",
  },
  ...kinds.map((row) => ({
    name: row.reload,
    on: ["workload", "template"] as const,
    values: "names or regular expressions, separated by commas",
    means: `it is rolled when one of these ${pluralOf(row.kind)} of its namespace changes${whereOn(row.kind)}, whatever its pod spec reads; one that does not exist is not waited for`,
    unlike: `${row.kind === "SecretProviderClass" ? `${onlyRotations}; ` : ""}an expression must match all of a name (there "a|b" also matches "ab"); at most ${mostPatterns.patterns} of them, of ${mostPatterns.characters} characters each`,
  })),
  ...kinds.map((row) => ({
    name: excludeOf[row.kind],
    on: ["workload"] as const,
    values: "names, separated by commas",
    means: `these ${pluralOf(row.kind)} do not count for what Stakater's annotations ask for`,
  })),
  {
    name: pausePeriod,
    on: ["workload"],
    values: 'a duration such as "5m"',
    means: "so much time lies between two rolls at least",
    unlike:
      "no Deployment is paused for it, and one that Reloader left paused is resumed; it counts for every kind of workload",
  },
  {
    name: rolloutStrategy,
    on: ["workload"],
    values: '"rollout" or "restart"',
    means:
      "on a Rollout of Argo Rollouts, where --workload-kinds names them: restart sets spec.restartAt, in place of an edit of the pod template",
    unlike: "the hash is then in an annotation of the Rollout itself; its first one restarts nothing",
  },
  {
    name: stakaterMatch,
    on: ["config"],
    values: '"true"',
    means: `it counts for workloads with ${search}`,
  },
  {
    name: stakaterIgnore,
    on: ["config"],
    values: '"true"',
    means: "it never counts, for nobody",
    unlike: "so also for what Wave's own annotations ask for",
  },
];

/** Whether the owner of a ConfigMap or Secret marked it by one of these annotations, where they are understood. */
export function isMarked(
  annotations: Readonly<Record<string, string>> | null | undefined,
  mark: typeof stakaterMatch | typeof stakaterIgnore,
  settings: CompatibilitySettings | undefined,
): boolean {
  return settings?.understood.includes("stakater") === true && annotations?.[mark] === "true";
}
