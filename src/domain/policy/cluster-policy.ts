import type { NamesMatching, PatternReference } from "../compatibility/settings.ts";
import type { ClusterHold } from "./cluster-hold.ts";
import type { HashKeys } from "./hash-key.ts";
import type { NamespacePolicy, Policy, PolicyFlags } from "./policy.ts";

/** What the flags of `wave run` and the state of the cluster decide for all workloads. The state may change at any time. */
export interface ClusterPolicy extends PolicyFlags {
  /** The hold of every rollout; undefined: there is none. */
  readonly clusterHold?: ClusterHold | undefined;
  /** The current keys of recorded hashes; undefined: hashes have no key. */
  readonly hashKeys?: HashKeys | undefined;
  /** Returns what a Namespace decides for its workloads; undefined: nothing. */
  readonly namespacePolicyOf?: ((namespace: string) => NamespacePolicy | undefined) | undefined;
  /** Returns the names that regular expressions match. Used only if an enabled compatibility has expressions. */
  readonly namesMatching?: NamesMatching | undefined;
}

/** The part of a workload that its facts are found by. */
export interface WorkloadInNamespace {
  readonly namespace: string;
  readonly peer?: { readonly patterns: readonly PatternReference[] } | undefined;
}

/**
 * Returns what decides about one workload now, so that one plan uses one state of the cluster. The result is valid until the
 * next event of a cache: it shares the matched names with the cache. The cost does not depend on the number of workloads.
 */
export function policyFor({ namespace, peer }: WorkloadInNamespace, policy: ClusterPolicy): Policy {
  const { namespacePolicyOf, namesMatching, ...facts } = policy;
  const matchedNames = peer?.patterns.length ? namesMatching?.(namespace, peer.patterns) : undefined;
  return { ...facts, namespacePolicy: namespacePolicyOf?.(namespace), matchedNames };
}
