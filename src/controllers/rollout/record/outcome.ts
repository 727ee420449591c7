import type { Workload } from "../../../domain/model/workload.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";

/** What is told of a plan, without what Pods see by it: that may be thousands of keys. */
export type ReportedPlan = Pick<RolloutPlan, "outcome" | "reason" | "warnings">;

/**
 * The plan was made from what is stored, where the caches asked for a write. They need not tell when they have caught up:
 * a list may bring what they hold already, which is no change. So the workload is to be planned again.
 */
type Ahead = true;

/** How one run of the reconciler for one workload ended. The controller maps each to queue, Events, metrics and log. */
export type Outcome =
  /** The plan asks for no write. */
  | { readonly type: "settled"; readonly workload: Workload; readonly plan: RolloutPlan; readonly ahead?: Ahead }
  /** There is something to write, but no turn for it now: the workload is in line, and planned again with its turn. */
  | { readonly type: "paced" }
  /** The plan was written; `before` is the workload that it was made from. */
  | { readonly type: "written"; readonly before: Workload; readonly plan: ReportedPlan; readonly ahead?: Ahead }
  /** The workload does not exist any more, or does not concern Wave. */
  | { readonly type: "gone" }
  /** The workload kept changing while it was planned. */
  | { readonly type: "conflict"; readonly workload: Workload }
  /** The API server, or something that it asks, does not let Wave write this workload. `message` is for its owner. */
  | { readonly type: "refused"; readonly workload: Workload; readonly message: string }
  /** The API server cannot answer now, which says nothing about the workload. */
  | {
      readonly type: "unavailable";
      readonly workload: Workload;
      readonly message: string;
      readonly retryAfterMs: number;
    }
  /** This process may not write now, and in most cases not any more. */
  | { readonly type: "stopped" };
