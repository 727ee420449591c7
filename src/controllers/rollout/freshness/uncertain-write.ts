import { hasSchedulingHold } from "../../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { isRollAgain, type RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import type { PlanSummary, ReconcileOutcome } from "../memory/outcome.ts";
import { lastWriteAfter } from "../memory/pacing-memory.ts";
import type { RememberedViews } from "../memory/remembered-views.ts";
import type { Findings, Writable } from "../memory/workload-memory.ts";
import { type LivePlanOptions, readFailure } from "./live-plan.ts";

/** Stores a write whose response was lost: the write may have arrived. `now` is in monotonic milliseconds. */
export function rememberUncertainWrite(
  findings: Writable<Findings>,
  before: Workload,
  plan: RolloutPlan,
  hasPassed: boolean,
  now: number,
): void {
  const lastWrite = lastWriteAfter(findings, before, plan, hasPassed, now);
  findings.uncertainWrite = { before, plan: summaryOf(plan), lastWrite };
}

/** Returns how a run ends that has nothing to write: with the uncertain write before, if it has arrived. */
export function outcomeWithoutWrite(
  key: string,
  findings: Writable<Findings>,
  workload: Workload,
  plan: RolloutPlan,
  views: RememberedViews,
): Extract<ReconcileOutcome, { readonly type: "done" | "written" }> {
  const { uncertainWrite } = findings;
  // A write that is due now says nothing about the uncertain write.
  if (plan.outcome === "held") return { type: "done", workload, plan };
  findings.uncertainWrite = undefined;
  if (plan.outcome === "current") views.remember(key, plan.view);
  if (uncertainWrite === undefined) return { type: "done", workload, plan };
  const arrived =
    uncertainWrite.plan.outcome === "cleanUp"
      ? isCleanedUp(uncertainWrite.before, workload)
      : plan.outcome === "current" && uncertainWrite.plan.hash === plan.view.hash;
  if (!arrived) return { type: "done", workload, plan };
  findings.lastWrite = uncertainWrite.lastWrite;
  return { type: "written", before: uncertainWrite.before, plan: uncertainWrite.plan };
}

/**
 * Returns how a run ends if the caches do not hold the workload. A workload that opted out leaves the caches when its
 * scheduling hold is removed. If the response of that write was lost, a live read shows whether the write arrived.
 */
export async function outcomeWithoutCache(
  findings: Writable<Findings>,
  { live, leadership }: Pick<LivePlanOptions, "live" | "leadership">,
): Promise<ReconcileOutcome> {
  const { uncertainWrite } = findings;
  if (uncertainWrite?.plan.outcome !== "cleanUp") return { type: "gone" };
  const { before, plan } = uncertainWrite;
  try {
    const stored = await live.workload(before);
    findings.uncertainWrite = undefined;
    if (stored === undefined || !isCleanedUp(before, stored)) return { type: "gone" };
    return { type: "written", before, plan, cachesBehind: true };
  } catch (error) {
    return readFailure(error, before, leadership);
  }
}

/** Reports whether the scheduling hold, or the pause, of `before` is no longer on it. */
function isCleanedUp(before: Workload, now: Workload): boolean {
  return now.uid === before.uid && !hasSchedulingHold(now) && !now.pausedByReloader;
}

/** Returns how a run ends whose write succeeded. */
export function writtenOutcome(
  key: string,
  findings: Writable<Findings>,
  before: Workload,
  plan: RolloutPlan,
  views: RememberedViews,
): ReconcileOutcome {
  findings.uncertainWrite = undefined;
  if ("view" in plan) views.remember(key, plan.view);
  return { type: "written", before, plan: summaryOf(plan) };
}

function summaryOf(plan: RolloutPlan): PlanSummary {
  const { outcome, reason, warnings } = plan;
  const returned = plan.outcome === "roll" && plan.returns && { returned: plan.returns.names };
  const hash = "hash" in plan ? plan.hash : undefined;
  return { outcome, reason, warnings, hash, ...returned, ...(isRollAgain(plan) && { again: true }) };
}
