import type { CompatibilitySettings, NamesMatching } from "../compatibility/settings.ts";
import type { HashKeys } from "./hash-key.ts";
import type { PacingFlags } from "./pacing-flags.ts";
import type { PolicyAnnotations } from "./policy-annotations.ts";

/** What the person who runs Wave decided for all workloads. */
export interface Policy {
  /**
   * Whether a workload may name objects of other namespaces: where the object is shared with its namespace, always,
   * or never.
   */
  readonly crossNamespace: "granted" | "any" | "none";
  /** The namespaces that Wave may read; undefined means all. */
  readonly namespaces: readonly string[] | undefined;
  /** Whether a workload whose configuration is incomplete is kept from being scheduled. */
  readonly schedulingHold: boolean;
  /** The keys of recorded hashes, as they are known at this moment; undefined: hashes have no key. */
  readonly hashKeys?: HashKeys | undefined;
  /** When what is due may happen; undefined: at once. */
  readonly pacing?: PacingFlags | undefined;
  /** What becomes of a workload that is seen for the first time; undefined: as in the dialect that it opted in by. */
  readonly firstSight?: "roll" | "record" | undefined;
  /** What a Namespace decides for all workloads in it; undefined: nothing. */
  readonly ofNamespace?: ((namespace: string) => NamespacePolicy | undefined) | undefined;
  /** Whose annotations are understood; undefined: Wave's alone. */
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Whether what SecretProviderClasses fetch counts. */
  readonly providerClasses?: boolean | undefined;
  /**
   * Whether workloads own the ConfigMaps and Secrets that they reference ("keep"), or cease to ("remove"); undefined: owner
   * references and finalizers are left as they are.
   */
  readonly ownership?: "keep" | "remove" | undefined;
  /** What regular expressions name. Only asked where a dialect that has them is understood. */
  readonly namesMatching?: NamesMatching | undefined;
}

/** What the annotations of a Namespace decide for the workloads in it that do not say otherwise. */
export interface NamespacePolicy {
  /** Whether `update-on-config-change` is "true" on it. */
  readonly optsIn: boolean;
  readonly annotations: PolicyAnnotations;
  /** Its labels are not those that `--namespace-selector` asks for; absent: they are, or nobody asked. */
  readonly unselected?: true;
  /** It is being deleted, and all that is in it. */
  readonly ends?: true;
}
