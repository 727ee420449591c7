// The one decision about a workload: from a snapshot of facts to an outcome. Pure: no I/O, clock or logger, and no callback.
import type { ConfigView } from "../config/hash.ts";
import { withLegacyVerification } from "../config/legacy/legacy-verification.ts";
import type { Lookup } from "../config/view-of-references.ts";
import { oldFinalizerWarning } from "../model/old-finalizer.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload.ts";
import type { Hold } from "../outcomes/hold.ts";
import { type BatchCandidate, type Decision, type DueDecision, type Held, isDue } from "../outcomes/outcomes.ts";
import { batchedChanges, rolledIncompleteBy } from "../pacing/batch-hold.ts";
import { replacesPods } from "../pacing/due.ts";
import { dueWrite, holdOf, holdOfReturn, holdRows } from "../pacing/holds.ts";
import { nextConsecutiveRollouts } from "../pacing/interval.ts";
import type { Moment } from "../pacing/moment.ts";
import { blockedWarnings } from "../pacing/progressing.ts";
import { closing } from "../pacing/requested-holds.ts";
import { requestedReason, skipsWaits } from "../pacing/roll-request.ts";
import { isPinned } from "../pinning/pin-request.ts";
import { rolledBack, unusableCopies } from "../pinning/pin-texts.ts";
import { nothingRejected, withRejected } from "../pinning/rejections.ts";
import { isOptedIn } from "../policy/opted-in.ts";
import type { Policy } from "../policy/policy.ts";
import { mergeWarnings, type Warning } from "../references/warning.ts";
import { planDue } from "./due-plan.ts";
import { planReturn, type ReturningRoll, returnMistakes } from "./return-plan.ts";
import { withUnrestored } from "./unrestored-reason.ts";

export type { Change } from "../config/changes.ts";
export type { Lookup, Missing } from "../config/view-of-references.ts";
export type { Decision, DueDecision, Held } from "../outcomes/outcomes.ts";
export type { Warning } from "../references/warning.ts";

/** What to do with a workload, and why. */
export type RolloutPlan = (Decision | Held) & PlanTexts;

/** What to do with a workload, whether it may happen now or not. */
export type DuePlan = Decision & PlanTexts;

/** A rollout that must be completed by {@link withBatchHold}. */
export type CandidatePlan = BatchCandidate &
  PlanTexts & {
    /** The return to earlier pins that happens if the batches halt the change; absent: none. */
    readonly ifHalted?: RolloutPlan;
  };

/** The texts of a plan, for people. */
export interface PlanTexts {
  /** Why this is the outcome: one clause for use after a colon, without a final period. For a held write: why it is due. */
  readonly reason: string;
  readonly warnings: readonly Warning[];
  /** When time alone may change the plan, apart from a hold, in milliseconds since the epoch; absent: never. */
  readonly checkAt?: number;
  /** The annotation of previous pins to write beside the plan, because the last rollout has passed: undefined removes it. Absent: no write. */
  readonly previousPins?: string | undefined;
}

/**
 * Decides what to do with a workload. The reconciler, the webhooks and the CLI all use this function. A workload is out of date
 * if a Pod that it would create now could read another configuration than its Pods do.
 *
 * A workload that is paused, scaled to zero or updated `OnDelete` is planned like any other: its hash must be right before it
 * creates its next Pods, or these Pods would be replaced later.
 *
 * `policy` is a snapshot. The objects that `lookup` finds must not change during the call, which is synchronous.
 *
 * `previous` is the last known view of the workload. If it belongs to the recorded hash, a rollout can name the changes. Without
 * a `moment`, the plan shows what is due, whether it may happen now or not. With a `moment`, holds apply; only the batches are
 * left to the caller, who completes a "candidate" with {@link withBatchHold}.
 */
export function planRollout(workload: Workload, lookup: Lookup, policy: Policy, previous?: ConfigView): DuePlan;
export function planRollout(
  workload: Workload,
  lookup: Lookup,
  policy: Policy,
  previous: ConfigView | undefined,
  moment: Moment,
): RolloutPlan | CandidatePlan;
export function planRollout(
  stored: Workload,
  live: Lookup,
  policy: Policy,
  previous?: ConfigView,
  moment?: Moment,
): RolloutPlan | CandidatePlan {
  const workload = withLegacyVerification(stored, moment?.legacy);
  // New Pods do not read what was rolled back.
  const hasRejected = workload.rejected !== undefined && isPinned(workload, policy);
  const { lookup, kept, unusable } = hasRejected ? withRejected(workload, live, policy) : nothingRejected(live);
  // A webhook leaves such a Deployment paused and writes its hash.
  const unpauses =
    moment !== undefined && workload.pausedByReloader && isOptedIn(workload, policy) && !hasSchedulingHold(workload);
  const decided = unpauses
    ? planUnpause(workload)
    : withUnrestored(planDue(workload, lookup, policy, previous, moment?.now), workload, kept);
  const checked = policy.ownership === undefined ? withOldFinalizerWarning(workload, decided) : decided;
  const pinWarnings = [
    ...(decided.outcome === "ignore" ? [] : returnMistakes(workload, policy)),
    ...(kept.size > 0 ? [rolledBack([...kept].sort())] : []),
    ...(unusable.length > 0 ? [unusableCopies(unusable)] : []),
  ];
  const warnings = mergeWarnings([...checked.warnings, ...pinWarnings]);
  const plan = pinWarnings.length === 0 ? checked : { ...checked, warnings };
  if (moment === undefined) return plan;
  const planned = isDue(plan) ? planAt(moment, plan, workload, lookup, policy) : plan;
  if (workload.previousPins === undefined || isDecided(planned)) return planned;
  const returned = planReturn(workload, live, policy, previous, moment);
  switch (returned.type) {
    case "none":
      return planned;
    case "later":
      return { ...planned, checkAt: returned.at };
    case "passed":
      return { ...planned, previousPins: returned.previousPins };
    case "impossible":
      return { ...planned, warnings: [...planned.warnings, returned.warning] };
    case "now": {
      const plan = returnAt(moment, returned.plan, workload, lookup, policy);
      return planned.outcome === "candidate" ? { ...planned, ifHalted: plan } : plan;
    }
  }
}

/** Reports whether the workload does not return if its last rollout failed: Wave ignores it, or a newer edit is rolled soon. */
function isDecided(plan: RolloutPlan | CandidatePlan): boolean {
  if (plan.outcome === "held") return holdRows[plan.hold.reason].precedesReturn;
  return isDue(plan) || plan.outcome === "ignore";
}

/** Applies to a return the holds that a person wants for every rollout. A return waits for nothing else. */
function returnAt(
  moment: Moment,
  { reason, warnings, ...due }: ReturningRoll,
  workload: Workload,
  lookup: Lookup,
  policy: Policy,
): RolloutPlan {
  const hold = holdOfReturn(dueWrite(workload, due, lookup, policy, moment));
  if (hold !== undefined) return { outcome: "held", due, hold, reason, warnings };
  return { ...due, consecutiveRollouts: nextConsecutiveRollouts(workload, moment), reason, warnings };
}

/** Completes a candidate: `hold` is the hold of the batches of its changes, undefined if all of them admit it. */
export function withBatchHold(
  { due, isRequested, closesAt, ifHalted, changed: _changed, ...texts }: CandidatePlan,
  hold: Hold | undefined,
): RolloutPlan {
  const { reason, warnings } = texts;
  // A person may let a workload roll before the others, but not after a failure: for that there is `wave resume`.
  if (hold === undefined || (isRequested && holdRows[hold.reason].isSkipped)) return { ...due, reason, warnings };
  if (hold.reason === "halted" && ifHalted !== undefined) return ifHalted;
  const held = closesAt === undefined ? hold : { ...hold, closesAt };
  return { ...texts, outcome: "held", due, hold: held };
}

/** Applies the holds to a due write. */
function planAt(
  moment: Moment,
  plan: DueDecision & PlanTexts,
  workload: Workload,
  lookup: Lookup,
  policy: Policy,
): RolloutPlan | CandidatePlan {
  const { reason, warnings, ...due } = plan;
  const write = dueWrite(workload, due, lookup, policy, moment);
  const hold = holdOf(write);
  if (hold !== undefined) return { outcome: "held", due, hold, reason, warnings };
  const incomplete = rolledIncompleteBy(write);
  if ((due.outcome !== "roll" && due.outcome !== "firstHash") || !replacesPods(workload, due)) {
    // The API does not tell this write from a rollout.
    const startsPods = isSchedulingHeld(workload) && isOptedIn(workload, policy);
    return startsPods && incomplete !== undefined ? { ...plan, incomplete } : plan;
  }
  const changed = batchedChanges(write);
  const rollout = { ...due, consecutiveRollouts: nextConsecutiveRollouts(workload, moment), incomplete };
  const isRequested = skipsWaits(write);
  const blocked = due.outcome === "roll" ? blockedWarnings(workload) : [];
  const texts = {
    reason: requestedReason(reason, write),
    warnings: [...warnings, ...blocked],
  };
  if (changed === undefined) return { ...rollout, ...texts };
  return { outcome: "candidate", due: rollout, changed, isRequested, ...closing(write), ...texts };
}

/** Unpausing comes before everything else: a paused Deployment creates no Pods, whatever Wave writes. */
function planUnpause({ mistakes, deleting }: Workload): DuePlan {
  if (deleting) return { outcome: "ignore", reason: "the workload is being deleted", warnings: [] };
  const reason = "Stakater Reloader left the Deployment paused";
  return { outcome: "cleanUp", reason, warnings: mergeWarnings(mistakes) };
}

/** Adds the warning also to a workload that is being deleted: then the finalizer matters most. */
function withOldFinalizerWarning({ oldFinalizer }: Workload, plan: DuePlan): DuePlan {
  return oldFinalizer ? { ...plan, warnings: [...plan.warnings, oldFinalizerWarning] } : plan;
}
