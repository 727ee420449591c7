import type { LegacyRead } from "../../../cache/live/legacy-reads.ts";
import {
  findingOf,
  isTold,
  needsLegacyVerification,
  withFinding,
} from "../../../domain/config/legacy/legacy-verification.ts";
import { withoutReferences } from "../../../domain/model/cached-workload.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { Moment } from "../../../domain/pacing/moment.ts";
import { planRollout, type RolloutPlan } from "../../../domain/plan/plan.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import type { Leadership } from "../../../runtime/leadership.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { Outcome } from "../record/outcome.ts";
import type { WorkloadRecord } from "../record/workload-record.ts";
import { type LiveReads, readFailure } from "./live-reads.ts";

/** What planning from what is stored takes. */
export interface LivePlanOptions {
  readonly live: LiveReads;
  readonly policy: Policy;
  /** Learns the keys of hashes that other replicas have made; rejects where it cannot. Undefined where there are none. */
  readonly readHashKeys?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly leadership: Leadership;
}

/** A plan and the workload that it was made for. */
export interface Planned {
  readonly type: "planned";
  readonly workload: Workload;
  readonly plan: RolloutPlan;
}

/** How a run ends that could not be planned so. */
type Unplanned = Extract<Outcome, { readonly type: "gone" | "refused" | "unavailable" | "stopped" }>;

/**
 * Plans a workload anew from what is stored at this moment, where `cached` is its plan from caches that may be behind;
 * `momentOf` tells when it may be rolled.
 */
export async function planLive(
  workload: Workload,
  cached: RolloutPlan,
  record: WorkloadRecord,
  momentOf: (workload: Workload) => Moment,
  { live, policy, readHashKeys, leadership }: LivePlanOptions,
): Promise<Planned | Unplanned> {
  try {
    const told =
      needsLegacyVerification(workload) && !(isTold(workload, record.legacy) && record.legacy.stood)
        ? await tell(workload, record, { live, policy })
        : undefined;
    if (told === "gone") return { type: "gone" };
    // The patch tests what other plans are made from. Opting in again raises no generation of some kinds.
    const read = cached.outcome === "cleanUp" ? await live.workload(workload) : (told?.workload ?? workload);
    // Nobody would hear of the references of one that its namespace has no room for: it is not planned by them.
    const newest =
      read && workload.limitExceeded?.budget === "namespace"
        ? withoutReferences(read, workload.limitExceeded.count)
        : read;
    if (newest === undefined) return { type: "gone" };
    const lookup = told?.lookup ?? (await live.lookup(newest));
    const replan = () => planRollout(withFinding(newest, record.legacy), lookup, policy, record.view, momentOf(newest));
    const plan = replan();
    if (plan.outcome !== "recorded" || plan.because === "first" || readHashKeys === undefined)
      return { type: "planned", workload: newest, plan };
    // The hash may be under a key that another replica has just made.
    const failure = await readHashKeys(leadership.abort).catch(errorText);
    if (failure !== undefined) return { type: "unavailable", workload, message: failure, retryAfterMs: 0 };
    return { type: "planned", workload: newest, plan: replan() };
  } catch (error) {
    if (leadership.abort.aborted) return { type: "stopped" };
    return { ...readFailure(error, workload), workload };
  }
}

/** Finds out whether the hash that another controller recorded stands for what is there, and notes it. */
async function tell(
  workload: Workload,
  record: WorkloadRecord,
  { live, policy }: Pick<LivePlanOptions, "live" | "policy">,
): Promise<LegacyRead | "gone"> {
  const read = await live.legacy(workload);
  if (read === undefined) return "gone";
  const plan = planRollout(read.workload, read.lookup, policy);
  if ("view" in plan) record.legacy = findingOf(read.workload, plan.view, read.hash === read.workload.recordedHash);
  return read;
}
