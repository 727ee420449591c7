import type { Workload } from "../model/workload.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";

/** What becomes of a running workload that Wave sees for the first time. */
export type FirstSight =
  /** It gets a hash, which replaces its Pods once. */
  | "roll"
  /** What is there is taken for what its Pods see, and noted beside the pod template. */
  | "record";

/**
 * A Pod template that cannot be changed gets no hash before something changes. Otherwise what its annotation says, else the flag; else the custom of those who ask for its rolls: Stakater's Reloader replaces no Pods
 * before something changes, the others do.
 */
export function firstSightOf(workload: Workload, policy: Policy): FirstSight {
  if (workload.rolledBy === "replacement") return "record";
  const said = rolloutPolicyOf(workload, policy).firstSight ?? policy.firstSight;
  return said ?? (workload.foreign?.compatibility.includes("stakater") ? "record" : "roll");
}
