import type { Workload } from "../../../domain/model/workload.ts";
import type { PinsReturn } from "../../../domain/outcomes/outcomes.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";

/** The part of a plan that is reported. It has no view, which may have thousands of keys. */
export interface PlanSummary extends Pick<RolloutPlan, "outcome" | "reason" | "warnings"> {
  /** The hash that the plan writes; undefined if it writes none. */
  readonly hash?: string | undefined;
  /** The ConfigMaps whose earlier content the Pods read after a return to earlier pins; absent for other plans. */
  readonly returned?: PinsReturn["names"];
  /** Present if the rollout keeps the recorded hash, because only Pods run another configuration. */
  readonly again?: true;
}

/**
 * The live plan needs no write, but the plan from the caches did. The caches may catch up without a change event: a list
 * may bring only what they already hold. So the workload is reconciled again after a backoff.
 */
type CachesBehind = true;

/** How one run of the reconciler ended. */
export type ReconcileOutcome =
  /** The plan needs no write. */
  | {
      readonly type: "done";
      readonly workload: Workload;
      readonly plan: RolloutPlan;
      readonly cachesBehind?: CachesBehind;
    }
  /** The plan needs a write, but there is no write permit now. The workload is reconciled again with its permit. */
  | { readonly type: "permitPending" }
  /** The plan was written. `before` is the workload that it was made from. */
  | {
      readonly type: "written";
      readonly before: Workload;
      readonly plan: PlanSummary;
      readonly cachesBehind?: CachesBehind;
    }
  /** The workload does not exist any more, or does not concern Wave. */
  | { readonly type: "gone" }
  /** The workload kept changing during the run. */
  | { readonly type: "conflict"; readonly workload: Workload }
  /** The API server, or a webhook or policy, refused the write. `message` is for the owner of the workload. */
  | { readonly type: "refused"; readonly workload: Workload; readonly message: string }
  /** The API server gave no answer, which says nothing about the workload. */
  | {
      readonly type: "unavailable";
      readonly workload: Workload;
      readonly message: string;
      readonly retryAfterMs: number;
    }
  /** This process may not write now, in most cases because it lost its leadership. */
  | { readonly type: "stopped" };
