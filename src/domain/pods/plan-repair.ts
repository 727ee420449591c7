import { keptPodsOf } from "../model/kept-pods.ts";
import type { WorkloadObject } from "../model/workload-references.ts";
import type { PolicyValue } from "../policy/policy-rows.ts";
import { fieldsOf } from "../syntax/unknown-fields.ts";
import { desiredPods } from "./desired-pods.ts";

/** How mixed Pods are replaced. "report": a person must replace them, because of the annotation or of the update strategy. */
export type Repair =
  | { readonly action: "evict" }
  | { readonly action: "roll" }
  | { readonly action: "report"; readonly because: "annotation" | "OnDelete" | "paused" };

/** What decides how mixed Pods are replaced. */
export interface RepairFacts {
  readonly object: WorkloadObject;
  /** The number of its Pods that serve, and of those that are mixed. */
  readonly total: number;
  readonly mixed: number;
  /** The annotation; undefined if there is none. */
  readonly wish: PolicyValue<"mixed"> | undefined;
  /** Whether Wave has permission to evict Pods. */
  readonly mayEvict: boolean;
}

/**
 * Decides how mixed Pods are replaced. By default only these Pods are evicted. A rollout is gentler if there is one replica or if
 * `maxUnavailable` is 0, because it creates new Pods first, and faster if more than half of the Pods are mixed.
 */
export function planRepair({ object, total, mixed, wish, mayEvict }: RepairFacts): Repair {
  if (wish === "report") return { action: "report", because: "annotation" };
  const kept = keptPodsOf(object)?.by;
  if (kept === "paused" || kept === "OnDelete") return { action: "report", because: kept };
  if (wish === "roll" || !mayEvict) return { action: "roll" };
  if (wish === "evict") return { action: "evict" };
  const { strategy, updateStrategy } = fieldsOf(object.spec);
  const { maxUnavailable } = fieldsOf(fieldsOf(updateStrategy ?? strategy).rollingUpdate);
  const mustRoll = mixed * 2 > total || desiredPods(object) <= 1 || maxUnavailable === 0 || maxUnavailable === "0%";
  return { action: mustRoll ? "roll" : "evict" };
}
