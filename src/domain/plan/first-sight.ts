import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";

/** How to treat a running workload that Wave has not seen before. */
export type FirstSight =
  /** Write a hash, which replaces the Pods once. */
  | "roll"
  /** Record the current configuration as what the Pods read, without a rollout. */
  | "record";

/**
 * Returns how to treat a workload at first sight. A Pod template that cannot be changed gets no hash before its configuration
 * changes. Otherwise the annotation decides, then the flag, then the compatibility: Stakater Reloader replaces no Pods before
 * a change, the other controllers do.
 */
export function firstSightOf(workload: Workload, policy: Policy): FirstSight {
  if (workload.strategy.hasImmutableTemplate) return "record";
  const said = rolloutPolicyOf(workload, policy).firstSight ?? policy.firstSight;
  return said ?? (workload.peer?.compatibility.includes("stakater") ? "record" : "roll");
}
