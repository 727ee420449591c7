import type { HashKeys } from "../hash-key.ts";

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
  readonly schedulingGate: boolean;
  /** The keys of recorded hashes, as they are known at this moment; undefined: hashes have no key. */
  readonly hashKeys?: HashKeys | undefined;
}
