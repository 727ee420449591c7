// The one decision about a workload: from a world of facts to an outcome with its hold and texts. Pure: no I/O, clock or logger.
import type { ConfigView } from "../config/hash.ts";
import type { Lookup } from "../config/view-of-references.ts";
import { isSchedulingHeld } from "../model/scheduling-hold.ts";
import { lostAnnotations } from "../model/undo-request.ts";
import type { Workload } from "../model/workload-shape.ts";
import {
  type DueDecision,
  type Hold,
  isDue,
  isRollAgain,
  type PlanTexts,
  type RolloutPlan,
} from "../outcomes/outcomes.ts";
import { heldByOf } from "../pacing/alerts.ts";
import { batchedChanges, rolledIncompleteBy } from "../pacing/batch-member.ts";
import type { BatchHoldLookup } from "../pacing/batches.ts";
import { type DueWrite, dueReason, dueWrite, editsOf, heldReason, knownChanges, replacesPods } from "../pacing/due.ts";
import { holdOf, holdOfReturn, holdRows, isHalt } from "../pacing/holds.ts";
import { blockedWarnings, flapWarnings, nextConsecutiveRollouts } from "../pacing/interval.ts";
import type { Moment } from "../pacing/moment.ts";
import { closing, nextRequestAt, requestedReason, skipsWaits } from "../pacing/requested-holds.ts";
import { isPinned, keptWithoutKey, unusableCopies } from "../pinning/pin-request.ts";
import { pinsIn, readablePins } from "../pinning/pinned-lookup.ts";
import { isOptedIn, type Rules } from "../policy/rules.ts";
import type { ConfigName } from "../references/references.ts";
import type { Warning } from "../references/warning.ts";
import { planReturn, planWanted, type Wanted, wantedOf } from "./plan.ts";

/** What there is for the decision about one workload. A read-only view: nothing in it changes during a decision, which is synchronous. */
export interface World {
  readonly workload: Workload;
  readonly lookup: Lookup;
  readonly rules: Rules;
  /** The last known view of the workload. If it belongs to the recorded hash, a rollout can name the changes. Default: unknown. */
  readonly previous?: ConfigView | undefined;
  /** The time, and what the caller knows or remembers of the workload. */
  readonly moment: Moment;
  /** Returns the hold of the batches. Default: all batches admit the workload. */
  readonly batchHold?: BatchHoldLookup | undefined;
}

/**
 * Decides what to do with a workload now. The reconciler and all commands use this function. A workload is out of date if a Pod that it would
 * create now could read another configuration than its Pods do.
 *
 * A workload that is paused, scaled to zero or updated `OnDelete` is planned like any other: its hash must be right before it
 * creates its next Pods, or these Pods would be replaced later.
 */
export function decide(world: World): RolloutPlan {
  const { workload, lookup, rules, previous, moment } = world;
  const wanted = wantedOf(workload, lookup, rules, moment.legacy);
  const due = planWanted(wanted, rules, previous, moment);
  const planned = isDue(due) ? applyHolds(due, wanted, world) : due;
  const decided = withReturn(planned, wanted, world);
  const plan = decided.outcome === "candidate" ? applyBatches(decided, world) : decided;
  const warnings = [
    ...lostAnnotations(moment.changedByUndo ?? []),
    ...unrestoredPins(plan, workload, moment),
    ...stuckTemplate(plan, world),
  ];
  const requestAt = nextRequestAt(workload, moment.now);
  const timed = requestAt === undefined ? plan : { ...plan, checkAt: Math.min(plan.checkAt ?? requestAt, requestAt) };
  return warnings.length === 0 ? timed : { ...timed, warnings: [...plan.warnings, ...warnings] };
}

/** A rollout that only the batches of its changes can hold. */
interface Candidate extends PlanTexts {
  readonly outcome: "candidate";
  readonly due: DueDecision;
  readonly batched: readonly ConfigName[];
  /** Whether the rollout does not wait for other workloads, for example because a person requested it. */
  readonly isRequested: boolean;
  /** The reason if it is held. */
  readonly heldReason: string;
  /** When the window closes, milliseconds since the epoch; absent without a window. */
  readonly closesAt?: number;
  /** The return to earlier pins that happens if the batches halt the change; absent: none. */
  readonly ifHalted?: RolloutPlan;
}

/** Applies the holds to a due write, apart from batches. */
function applyHolds(
  plan: DueDecision & PlanTexts,
  { workload, lookup }: Wanted,
  { rules, moment, batchHold }: World,
): RolloutPlan | Candidate {
  const { reason, warnings, ...due } = plan;
  const write = dueWrite({ workload, decision: due, lookup, rules, moment });
  const own = holdOf(write);
  if (own !== undefined) {
    const { hold, ...halted } = haltInstead(own, write, batchHold) ?? { hold: own };
    const why = heldReason(write, reason);
    const flaps = holdRows[hold.reason].isShort ? flapWarnings(write, why) : [];
    const changed = knownChanges(write);
    return { outcome: "held", due, hold, changed, ...halted, reason: why, warnings: [...warnings, ...flaps] };
  }
  if (isRollAgain(plan)) return plan;
  const incomplete = rolledIncompleteBy(write);
  if ((due.outcome !== "roll" && due.outcome !== "firstHash") || !replacesPods(workload, due)) {
    // The API does not tell this write from a rollout.
    const startsPods = isSchedulingHeld(workload) && isOptedIn(workload, rules);
    return startsPods && incomplete !== undefined ? { ...plan, incomplete } : plan;
  }
  const batched = batchedChanges(write);
  const rollout = {
    ...due,
    consecutiveRollouts: nextConsecutiveRollouts(workload, moment),
    edits: editsOf(write),
    heldBy: heldByOf(moment),
    incomplete,
  };
  const isRequested = skipsWaits(write);
  const blocked = due.outcome === "roll" ? blockedWarnings(workload) : [];
  const texts = { reason: requestedReason(dueReason(write, reason), write), warnings: [...warnings, ...blocked] };
  if (batched === undefined) return { ...rollout, ...texts };
  return {
    outcome: "candidate",
    due: rollout,
    batched,
    isRequested,
    ...closing(write),
    ...texts,
    heldReason: heldReason(write, reason),
  };
}

/** Returns the halt that is reported in place of a hold, and the changes of the batches; undefined if there is none. */
function haltInstead(
  { reason }: Hold,
  write: DueWrite,
  batchHold: BatchHoldLookup | undefined,
): { readonly hold: Hold; readonly batched: readonly ConfigName[] } | undefined {
  if (!holdRows[reason].yieldsToHalt || isRollAgain(write.decision)) return undefined;
  const batched = batchedChanges(write);
  const halt = batched && batchHold?.(write.workload, batched);
  return halt && isHalt(halt) ? { hold: { ...halt, ...closing(write) }, batched } : undefined;
}

/** Adds whether the workload returns to the pins before its last rollout, because that rollout failed. */
function withReturn(
  planned: RolloutPlan | Candidate,
  { workload, lookup }: Wanted,
  { lookup: live, rules, previous, moment }: World,
): RolloutPlan | Candidate {
  if (workload.previousPins === undefined || precedesReturn(planned)) return planned;
  const returned = planReturn(workload, live, rules, previous, moment);
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
      const { reason, warnings, ...due } = returned.plan;
      const write = dueWrite({ workload, decision: due, lookup, rules, moment });
      const hold = holdOfReturn(write);
      const plan: RolloutPlan =
        hold === undefined
          ? {
              ...due,
              consecutiveRollouts: nextConsecutiveRollouts(workload, moment),
              heldBy: heldByOf(moment),
              reason,
              warnings,
            }
          : { outcome: "held", due, hold, changed: knownChanges(write), reason, warnings };
      return planned.outcome === "candidate" ? { ...planned, ifHalted: plan } : plan;
    }
  }
}

/** Reports whether the workload does not return if its last rollout failed: Wave ignores it, or a newer edit is rolled soon. */
function precedesReturn(plan: RolloutPlan | Candidate): boolean {
  if (plan.outcome !== "candidate" && isRollAgain(plan)) return false;
  if (plan.outcome === "held") return holdRows[plan.hold.reason].precedesReturn;
  return isDue(plan) || plan.outcome === "ignore";
}

/** Applies the batches to a rollout that nothing else holds. */
function applyBatches(
  { due, isRequested, closesAt, ifHalted, heldReason: whyHeld, ...texts }: Candidate,
  { workload, batchHold }: World,
): RolloutPlan {
  const { reason, warnings, batched } = texts;
  const hold = batchHold?.(workload, batched);
  // A person may let a workload roll before the others, but not after a failure: for that there is `wave resume`.
  if (hold === undefined || (isRequested && holdRows[hold.reason].isSkipped))
    return { ...due, reason, warnings, batched };
  if (isHalt(hold) && ifHalted !== undefined) return { ...ifHalted, batched };
  const held = closesAt === undefined ? hold : { ...hold, closesAt };
  return { ...texts, outcome: "held", due, hold: held, changed: batched, reason: whyHeld };
}

/** Returns the warning about restored pins that the rollout of a plan replaces by live configuration. */
function unrestoredPins(plan: RolloutPlan, workload: Workload, { unrestored }: Moment): readonly Warning[] {
  const isRolled = plan.outcome === "roll" || plan.batched !== undefined;
  const isOf = unrestored?.uid === workload.uid && unrestored.pinned === workload.pinned;
  return isRolled && isOf ? [unusableCopies(unrestored.names)] : [];
}

/**
 * Returns a warning about a held plan if new Pods cannot start, because a copy that the pod template names lacks a required key. Without webhooks, a
 * template change of another client keeps such a pin. Only a rollout to the held change would replace the pin.
 */
function stuckTemplate(plan: RolloutPlan, { workload, lookup, rules }: World): readonly Warning[] {
  if (plan.outcome !== "held" || holdRows[plan.hold.reason].isShort || !isPinned(workload, rules)) return [];
  const { live } = readablePins(workload, undefined, lookup);
  const pins = pinsIn(workload.pinned);
  const exists = (copy = "") => lookup("ConfigMap", workload.namespace, copy)?.isCopy === true;
  const names = live.filter((name) => exists(pins.get(name)));
  return names.length === 0 ? [] : [keptWithoutKey(names)];
}
