import type { CompatibilitySettings, MatchedNames } from "../compatibility/settings.ts";
import type { ClusterHold } from "./cluster-hold.ts";
import type { HashKeys } from "./hash-key.ts";
import type { PacingFlags } from "./pacing-flags.ts";
import type { PolicyAnnotations } from "./policy-annotations.ts";

/** What the flags of `wave run` decide for all workloads. */
export interface PolicyFlags {
  /**
   * Whether a workload may name objects of other namespaces. "granted": if the object is shared with the namespace of the workload.
   * "any": always. "none": never.
   */
  readonly crossNamespace: "granted" | "any" | "none";
  /** The namespaces that Wave may read; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** Whether Wave keeps new Pods pending if their configuration is incomplete. */
  readonly schedulingHold: boolean;
  /** When a due rollout may start; undefined: immediately. */
  readonly pacing?: PacingFlags | undefined;
  /** How to treat a running workload that Wave has not seen before; undefined: as its compatibility requires. */
  readonly firstSight?: "roll" | "record" | undefined;
  /** The enabled compatibilities; undefined: Wave reads only its own annotations. */
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Whether Wave tracks the objects of SecretProviderClasses. */
  readonly providerClasses?: boolean | undefined;
  /** Whether Wave stores pinned copies for the workloads that ask for it. */
  readonly pinConfig?: boolean | undefined;
  /**
   * Whether workloads own the ConfigMaps and Secrets that they reference ("keep"), or no longer own them ("remove"); undefined: Wave
   * does not change owner references and finalizers.
   */
  readonly ownership?: "keep" | "remove" | undefined;
}

/** What decides about one workload at one moment: facts only, no functions. `policyFor` returns the policy of a workload. */
export interface Policy extends PolicyFlags {
  /** What the Namespace of the workload decides; undefined: nothing, or the Namespace is not known. */
  readonly namespacePolicy: NamespacePolicy | undefined;
  /** The hold of every rollout; undefined: there is none. */
  readonly clusterHold?: ClusterHold | undefined;
  /** The current keys of recorded hashes; undefined: hashes have no key. */
  readonly hashKeys?: HashKeys | undefined;
  /** Whether this replica is stopping. It adds no scheduling hold, because perhaps no replica is left to lift the hold. */
  readonly isStopping?: boolean;
  /** The names that the regular expressions of the workload match; undefined: it has none, or the names are not known. */
  readonly matchedNames?: MatchedNames | undefined;
}

/** What a Namespace decides for its workloads, if they have no annotation of their own. */
export interface NamespacePolicy {
  /** Whether the Namespace has `update-on-config-change: "true"`. */
  readonly optsIn: boolean;
  readonly annotations: PolicyAnnotations;
  /** Present if the Namespace holds every rollout of the Wave that runs in it: the reason, or "". */
  readonly clusterHold?: string;
  /** Present if `--namespace-selector` does not select the labels of the Namespace. */
  readonly unselected?: true;
  /** Present if the Namespace, and everything in it, is being deleted. */
  readonly deleting?: true;
}
