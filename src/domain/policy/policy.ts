import type { Namespace } from "#kubernetes";
import type { CompatibilitySettings, NamesMatching } from "../compatibility/directive.ts";
import type { DirectiveContext } from "../compatibility/directives.ts";
import { holdCluster, updateOnConfigChange } from "../references/annotations.ts";
import type { ConfigKind } from "../references/references.ts";
import { selects } from "../syntax/label-selector.ts";
import type { HashKeys } from "./hash-key.ts";
import { type PolicyAnnotations, policyAnnotationsOf } from "./policy-rows.ts";

/** What the flags of `wave run` and the state of the cluster decide for all workloads. The state may change at any time. */
export interface Policy extends DirectiveContext {
  /**
   * Whether a workload may name objects of other namespaces. "granted": if the object is shared with the namespace of the workload.
   * "any": always. "none": never.
   */
  readonly crossNamespace: "granted" | "any" | "none";
  /** The namespaces that Wave may read; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** Whether Wave keeps new Pods pending if their configuration is incomplete. */
  readonly schedulingHold: boolean;
  /** When a due rollout may start. */
  readonly pacing: PacingFlags;
  /** How to treat a running workload that Wave has not seen before; undefined: as its compatibility requires. */
  readonly firstSight?: "roll" | "record" | undefined;
  /** Whether Wave stores pinned copies for the workloads that ask for it. */
  readonly pinConfig?: boolean | undefined;
  /**
   * Whether workloads own the ConfigMaps and Secrets that they reference ("keep"), or no longer own them ("remove"); undefined: Wave
   * does not change owner references and finalizers.
   */
  readonly ownership?: "keep" | "remove" | undefined;
  /** The hold of every rollout; undefined: there is none. */
  readonly clusterHold?: ClusterHold | undefined;
  /** The current keys of recorded hashes; undefined: hashes have no key. */
  readonly hashKeys?: HashKeys | undefined;
  /** Whether this replica is stopping. It adds no scheduling hold, because perhaps no replica is left to lift the hold. */
  readonly isStopping?: boolean | undefined;
  /** Returns what a Namespace decides for its workloads; undefined: nothing. */
  readonly namespacePolicyOf?: ((namespace: string) => NamespacePolicy | undefined) | undefined;
  /** Returns the names that regular expressions match. Used only if an enabled compatibility has expressions. */
  readonly namesMatching?: NamesMatching | undefined;
}

/** What a Namespace decides for its workloads, if they have no annotation of their own. */
export interface NamespacePolicy {
  /** Whether the Namespace has `update-on-config-change: "true"`. */
  readonly optsIn: boolean;
  readonly annotations: PolicyAnnotations;
  /** Set if the Namespace holds every rollout of the Wave that runs in it: the reason, or "". */
  readonly clusterHold: string | undefined;
  /** Whether `--namespace-selector` does not select the labels of the Namespace. */
  readonly unselected: boolean;
  /** Whether the Namespace, and everything in it, is being deleted. */
  readonly deleting: boolean;
}

/** The pacing flags: when a due rollout may start, for all workloads without their own annotations. */
export interface PacingFlags {
  /**
   * Time between the last change of configuration and the rollout, in milliseconds. 0: each change rolls immediately, and neither the
   * hold "interval" nor the hold "progressing" applies.
   */
  readonly settleMs: number;
  /** Limit of concurrent rollouts for one change. 0: batches are off. */
  readonly maxConcurrent: number;
  /** How long the canary must be complete before the next batch starts, in milliseconds. */
  readonly soakMs: number;
  /** Number of failures in later batches that halts the rest. In the canary, one failure is enough. 0: never halt. */
  readonly haltAfterFailures: number;
  /** How long a rollout may take until Wave treats it as failed, in milliseconds. */
  readonly rolloutTimeoutMs: number;
  /** Whether Wave writes nothing at all. */
  readonly observe: boolean;
  /** When workloads may roll, in the syntax of the annotation `window`; undefined: at any time. */
  readonly window: string | undefined;
}

/** A hold of every rollout of one Wave, which a person sets in an emergency. */
export interface ClusterHold {
  /** The Namespace of Wave, which has the annotation. */
  readonly namespace: string;
  /** The reason that the person gave; "" if there is none. */
  readonly reason: string;
}

/** Limit of the characters of a reason. It becomes a part of an Event on each due workload. */
const maxReason = 200;

/**
 * Returns the reason of a hold of every rollout, from the annotations of a Namespace; undefined if there is no hold. Every text except
 * "false" holds: in an emergency, a wrong value must not let anything roll.
 */
export function readClusterHold(annotations: Readonly<Record<string, string>> | null | undefined): string | undefined {
  const text = annotations?.[holdCluster]?.trim();
  if (text === undefined || text === "" || text === "false") return undefined;
  return text === "true" ? "" : text.slice(0, maxReason);
}

/** Returns what a Namespace decides for its workloads. Of the labels, the result keeps only whether a flag selects the Namespace. */
export function toNamespacePolicy(
  { metadata = {} }: Pick<Namespace, "metadata">,
  compatibility?: CompatibilitySettings,
): NamespacePolicy {
  const { annotations, labels, deletionTimestamp } = metadata;
  const selector = compatibility?.filters?.namespaces;
  return {
    // Only "true" opts in, as on a workload. An unclear value does not.
    optsIn: annotations?.[updateOnConfigChange] === "true",
    annotations: policyAnnotationsOf(annotations, "namespace"),
    clusterHold: readClusterHold(annotations),
    unselected: selector !== undefined && !selects(selector, labels),
    deleting: Boolean(deletionTimestamp),
  };
}

/** Reports whether a flag excludes all objects of a kind. */
export function ignoresKind(settings: CompatibilitySettings | undefined, kind: ConfigKind): boolean {
  return settings?.filters?.ignoredKinds.includes(kind) === true;
}

/** Reports whether the flags allow Wave to track a ConfigMap or Secret with these labels. */
export function selectsConfig(
  settings: CompatibilitySettings | undefined,
  kind: ConfigKind,
  labels: Readonly<Record<string, string>> | null | undefined,
): boolean {
  const selector = settings?.filters?.configs;
  return !ignoresKind(settings, kind) && (selector === undefined || selects(selector, labels));
}
