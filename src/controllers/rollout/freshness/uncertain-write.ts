import { hasSchedulingHold } from "../../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { RolloutPlan } from "../../../domain/plan/plan.ts";
import type { Outcome, ReportedPlan } from "../record/outcome.ts";
import { afterRoll } from "../record/pacing-record.ts";
import type { RememberedViews } from "../record/remembered-views.ts";
import type { WorkloadRecord } from "../record/workload-record.ts";
import type { LivePlanOptions } from "./live-plan.ts";
import { readFailure } from "./live-reads.ts";

type Views = Pick<RememberedViews, "remember">;

/** Notes a write of which no answer came: it may have arrived. `now` is on the monotonic clock. */
export function noteUncertain(record: WorkloadRecord, before: Workload, plan: RolloutPlan, now: number): void {
  record.uncertain = { before, hash: hashOf(plan), plan: told(plan), written: afterRoll(record, before, plan, now) };
}

/** How a run ends that has nothing to write: also with the write before it, where that turns out to have arrived. */
export function settled(
  record: WorkloadRecord,
  workload: Workload,
  plan: RolloutPlan,
  views: Views,
): Extract<Outcome, { readonly type: "settled" | "written" }> {
  const { uncertain } = record;
  // What is due now says nothing of the write of which no answer came.
  if (plan.outcome === "held") return { type: "settled", workload, plan };
  record.uncertain = undefined;
  if (plan.outcome === "current") views.remember(record, plan.view);
  if (uncertain === undefined) return { type: "settled", workload, plan };
  const arrived =
    uncertain.plan.outcome === "cleanUp"
      ? isLifted(uncertain.before, workload)
      : plan.outcome === "current" && uncertain.hash === plan.view.hash;
  // The write of which no answer came did arrive: it is told of now.
  if (arrived) {
    record.written = uncertain.written;
    return { type: "written", before: uncertain.before, plan: uncertain.plan };
  }
  return { type: "settled", workload, plan };
}

/** What it takes to find out what became of a write. */
type LeftOptions = Pick<LivePlanOptions, "live" | "leadership">;

/**
 * How a run ends whose workload the caches do not hold. One that opted out leaves them as soon as its gate is lifted: where
 * no answer told whether Wave lifted it, what is stored tells.
 */
export async function leftCaches(record: WorkloadRecord, { live, leadership }: LeftOptions): Promise<Outcome> {
  const { uncertain } = record;
  if (uncertain?.plan.outcome !== "cleanUp") return { type: "gone" };
  const { before, plan } = uncertain;
  try {
    const stored = await live.workload(before);
    record.uncertain = undefined;
    if (stored === undefined || !isLifted(before, stored)) return { type: "gone" };
    return { type: "written", before, plan, ahead: true };
  } catch (error) {
    if (leadership.abort.aborted) return { type: "stopped" };
    return { ...readFailure(error, before), workload: before };
  }
}

/** Whether what was to be lifted of `before` is no longer on it: its gate, or that it was left paused. */
function isLifted(before: Workload, now: Workload): boolean {
  return now.uid === before.uid && !hasSchedulingHold(now) && !now.leftPaused;
}

/** How a run ends that wrote, and had an answer. */
export function written(record: WorkloadRecord, before: Workload, plan: RolloutPlan, views: Views): Outcome {
  record.uncertain = undefined;
  if ("view" in plan) views.remember(record, plan.view);
  return { type: "written", before, plan: told(plan) };
}

function told({ outcome, reason, warnings }: RolloutPlan): ReportedPlan {
  return { outcome, reason, warnings };
}

function hashOf(plan: RolloutPlan): string | undefined {
  return "hash" in plan ? plan.hash : undefined;
}
