import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { PinsReturn, RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { parseCause } from "../../../domain/pacing/cause.ts";
import type { RolloutResult } from "../../../domain/pacing/rollout-result.ts";
import type { workloadMetrics } from "../../../telemetry/catalogue/workloads.ts";
import type { LabelsOf } from "../../../telemetry/metrics/series.ts";

/** The part of a plan that is reported. It has no view, which may have thousands of keys. */
export interface PlanSummary extends Pick<RolloutPlan, "outcome" | "reason" | "warnings"> {
  /** The hash that the plan writes; undefined if it writes none. */
  readonly hash?: string | undefined;
  /** The ConfigMaps whose earlier content the Pods read after a return to earlier pins; absent for other plans. */
  readonly returned?: PinsReturn["names"];
  /** Present if the rollout keeps the recorded hash, because only Pods run another configuration. */
  readonly again?: true;
}

interface CachesBehind {
  /**
   * The live plan needs no write, but the plan from the caches did. The caches may catch up without a change event: a list
   * may bring only what they already hold. So the workload is reconciled again after a backoff.
   */
  readonly cachesBehind?: true;
}

/** How one run of the reconciler ended. */
export type ReconcileOutcome =
  /** The plan needs no write. */
  | ({ readonly type: "done"; readonly workload: Workload; readonly plan: RolloutPlan } & CachesBehind)
  /** The plan needs a write, but there is no write permit now. The workload is reconciled again with its permit. */
  | { readonly type: "permitPending" }
  /** The plan was written. `before` is the workload that it was made from. */
  | ({ readonly type: "written"; readonly before: Workload; readonly plan: PlanSummary } & CachesBehind)
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
  | { readonly type: "stopped" }
  /** The run failed with an error that is no answer of the API server. */
  | { readonly type: "bug" };

/** The state of a workload in `wave_workloads`. */
export type WorkloadState = LabelsOf<typeof workloadMetrics.workloads>["state"];

/** Returns the state of a workload after a run that ended with `outcome`; `before` if the outcome does not change it. */
export function stateAfter(before: WorkloadState | undefined, outcome: ReconcileOutcome): WorkloadState | undefined {
  switch (outcome.type) {
    case "done":
      return stateOfPlan(outcome.plan);
    case "written":
      return "current";
    case "permitPending":
    case "stopped":
    case "conflict":
    case "unavailable":
      return "due";
    case "refused":
    case "bug":
      return outcome.type;
    case "gone":
      return before;
  }
}

/** Returns the state of a workload whose plan needs no write. */
export function stateOfPlan(plan: RolloutPlan): WorkloadState {
  switch (plan.outcome) {
    case "ignore":
    case "waiting":
    case "overLimit":
    case "held":
      return plan.outcome;
    case "current":
      return plan.unproven === undefined ? "current" : "unproven";
    default:
      return "current";
  }
}

/** Reports whether a workload in this state needs no attention. */
export function isHealthy(state: WorkloadState | undefined): boolean {
  return state === undefined || state === "current" || state === "ignore";
}

/** The last rollout of a workload by Wave, and what was reported about its end. */
export interface ReportedRollout {
  readonly uid: string;
  readonly hash: string | undefined;
  readonly state: RolloutResult["state"];
  /** Whether this rollout, or the one before it, failed or was stuck: then its end is also the end of a problem. */
  readonly hasFailed: boolean;
  /** What is reported as long as the rollout has failed or is stuck; undefined if neither. */
  readonly failure: RolloutEnd | undefined;
}

/** The end of a rollout, as it is reported. A rollout that is stuck is reported as one, too. */
export interface RolloutEnd {
  readonly result: "complete" | "failed" | "stuck" | "resolved";
  /** Why it failed or is stuck, as a clause; undefined if neither. */
  readonly cause: string | undefined;
  /** The time from the start to the end, in milliseconds. */
  readonly durationMs: number;
  /** Why Wave rolled the workload, as a clause. */
  readonly why: string;
  /** The start in milliseconds since the epoch. It identifies the rollout, for each leader. */
  readonly startedAt: number;
}

type Tracks = { reportedRollout: ReportedRollout | undefined };

/** Stores that a rollout started, if a write did that. */
export function trackStart(findings: Tracks, outcome: ReconcileOutcome): void {
  if (outcome.type !== "written" || (outcome.plan.outcome !== "roll" && outcome.plan.outcome !== "firstHash")) return;
  const { before, plan } = outcome;
  if (plan.again || plan.hash === before.recordedHash) return;
  const { reportedRollout: last } = findings;
  const hasFailed = plan.returned !== undefined || (last?.uid === before.uid && last.hasFailed);
  findings.reportedRollout = { uid: before.uid, hash: plan.hash, state: "inProgress", hasFailed, failure: undefined };
}

/**
 * Stores how the last rollout of a workload is, and returns its end if that is news. Undefined also for a rollout that another client started.
 * A leader that did not start the rollout itself reports an end within `recentMs` milliseconds after the start: the leader before may have
 * ended in between, and an Event that exists is not repeated.
 */
export function trackEnd(
  findings: Tracks,
  workload: Workload,
  found: RolloutResult | undefined,
  now: number,
  recentMs: number,
): RolloutEnd | undefined {
  const started = parseCause(workload.recordedHash, workload.cause);
  if (started === undefined || !workload.strategy.podsCarryHash) {
    findings.reportedRollout = undefined;
    return undefined;
  }
  const { uid, recordedHash: hash, progress } = workload;
  const { reportedRollout: last } = findings;
  const known = last?.uid === uid && last.hash === hash ? last : undefined;
  // Another client may have repaired the workload.
  const isRepaired = known !== undefined && isProblem(known.state) && progress.state === "complete";
  const result = isRepaired && found === undefined ? ({ state: "complete" } as const) : found;
  if (result === undefined) return undefined;
  const isOld = result.state === "complete" && now - started.at > recentMs;
  const before = known?.state ?? (isOld ? "complete" : "inProgress");
  // A rollout that makes progress after its end, because a Pod was lost or a late Pod is ready, has not begun again.
  const state = result.state === "inProgress" && before !== "stuck" ? before : result.state;
  if (known?.state === state) return undefined;
  const end: RolloutEnd = {
    result: isProblem(state) ? state : known?.hasFailed ? "resolved" : "complete",
    cause: "cause" in result ? result.cause : undefined,
    durationMs: Math.max(0, now - started.at),
    why: started.why,
    startedAt: started.at,
  };
  const hasFailed = isProblem(state) || (state === "inProgress" && known?.hasFailed === true);
  findings.reportedRollout = { uid, hash, state, hasFailed, failure: isProblem(state) ? end : undefined };
  return state === before || state === "inProgress" ? undefined : end;
}

function isProblem(state: RolloutResult["state"]): state is "failed" | "stuck" {
  return state === "failed" || state === "stuck";
}
