import type { CompatibilitySettings, NamesMatching } from "../compatibility/settings.ts";
import type { HashKeys } from "./hash-key.ts";
import type { PacingFlags } from "./pacing-flags.ts";
import type { PolicyAnnotations } from "./policy-annotations.ts";

/** What the flags of `wave run` and the state of the cluster decide for all workloads. */
export interface Policy {
  /**
   * Whether a workload may name objects of other namespaces. "granted": if the object is shared with the namespace of the workload.
   * "any": always. "none": never.
   */
  readonly crossNamespace: "granted" | "any" | "none";
  /** The namespaces that Wave may read; undefined: all. */
  readonly namespaces: readonly string[] | undefined;
  /** Whether Wave keeps new Pods pending if their configuration is incomplete. */
  readonly schedulingHold: boolean;
  /** The current keys of recorded hashes; undefined: hashes have no key. */
  readonly hashKeys?: HashKeys | undefined;
  /** When a due rollout may start; undefined: immediately. */
  readonly pacing?: PacingFlags | undefined;
  /** How to treat a running workload that Wave has not seen before; undefined: as its compatibility requires. */
  readonly firstSight?: "roll" | "record" | undefined;
  /** Returns what a Namespace decides for its workloads; undefined: nothing. */
  readonly namespacePolicyOf?: ((namespace: string) => NamespacePolicy | undefined) | undefined;
  /** The enabled compatibilities; undefined: Wave reads only its own annotations. */
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Whether Wave tracks the objects of SecretProviderClasses. */
  readonly providerClasses?: boolean | undefined;
  /**
   * Whether workloads own the ConfigMaps and Secrets that they reference ("keep"), or no longer own them ("remove"); undefined: Wave
   * does not change owner references and finalizers.
   */
  readonly ownership?: "keep" | "remove" | undefined;
  /** Returns the names that regular expressions match. Used only if an enabled compatibility has expressions. */
  readonly namesMatching?: NamesMatching | undefined;
}

/** What a Namespace decides for its workloads, if they have no annotation of their own. */
export interface NamespacePolicy {
  /** Whether the Namespace has `update-on-config-change: "true"`. */
  readonly optsIn: boolean;
  readonly annotations: PolicyAnnotations;
  /** Present if `--namespace-selector` does not select the labels of the Namespace. */
  readonly unselected?: true;
  /** Present if the Namespace, and everything in it, is being deleted. */
  readonly deleting?: true;
}
