import type { Workload } from "../../../domain/model/workload.ts";
import { parseCause } from "../../../domain/pacing/cause.ts";
import type { RolloutResult } from "../../../domain/pacing/rollout-result.ts";
import type { ReconcileOutcome } from "./outcome.ts";

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
