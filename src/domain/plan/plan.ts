import type { ConfigView } from "../config/hash.ts";
import { matchedReferences } from "../config/matched-references.ts";
import { describeObject, describeWaiting } from "../config/messages.ts";
import { notedClasses } from "../config/recorded-classes.ts";
import { unreadTemplate } from "../config/template-source.ts";
import { countedReferences } from "../config/tracked-references.ts";
import { viewsThrough } from "../config/tracked-view.ts";
import { type Lookup, limitExceededBy, type Missing, missingFrom } from "../config/view.ts";
import type { Decision, DueDecision, Held, Reasoned } from "../decision/decision.ts";
import { oldFinalizerWarning } from "../model/old-finalizer.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload.ts";
import { isRoll } from "../pacing/due.ts";
import { holdOf } from "../pacing/holds.ts";
import { nextStreak } from "../pacing/interval.ts";
import type { Moment } from "../pacing/moment.ts";
import { whyIgnored } from "../policy/filters.ts";
import { isIn } from "../policy/is-in.ts";
import type { Policy } from "../policy/policy.ts";
import { updateOnConfigChange } from "../references/annotations.ts";
import { describeLimitExceeded, type LimitExceeded } from "../references/limits.ts";
import { oneForEachReason, type Warning } from "../references/warning.ts";
import { quoted } from "../syntax/wording.ts";
import { planComplete } from "./complete-plan.ts";

export type { Change } from "../config/changes.ts";
export type { Lookup, Missing } from "../config/view.ts";
export type { Decision, DueDecision, Held } from "../decision/decision.ts";
export type { Warning } from "../references/warning.ts";

/** What to do with a workload, why in one line, and what a person should be told about it. */
export type RolloutPlan = (Decision | Held) & Told;

/** The same without a look at the time. */
export type DuePlan = Decision & Told;

interface Told {
  readonly reason: string;
  readonly warnings: readonly Warning[];
}

/**
 * What to do with a workload: the one decision that the reconciler, admission, `explain` and `diff` all make. A
 * workload is out of date when a Pod that it would create now could see other configuration than its Pods do.
 *
 * A workload that is paused, scaled to zero or updated only `OnDelete` is planned like any other: its hash must be
 * right before it makes its next Pods, or these would be replaced as soon as it resumes.
 *
 * `previous` is what the workload was last seen to see; where it is what the recorded hash stands for, a roll can say
 * what changed. Without a `moment` it is told what is due, whether it may happen now or not.
 */
export function planRollout(workload: Workload, lookup: Lookup, policy: Policy, previous?: ConfigView): DuePlan;
export function planRollout(
  workload: Workload,
  lookup: Lookup,
  policy: Policy,
  previous: ConfigView | undefined,
  moment: Moment,
): RolloutPlan;
export function planRollout(
  workload: Workload,
  lookup: Lookup,
  policy: Policy,
  previous?: ConfigView,
  moment?: Moment,
): RolloutPlan {
  // Admission leaves a Deployment paused that was left so, and gives it its hash.
  const resumes = moment !== undefined && workload.leftPaused && isIn(workload, policy) && !hasSchedulingHold(workload);
  const decided = resumes ? planResumed(workload) : decide(workload, lookup, policy, previous);
  const plan = policy.ownership === undefined ? withOldFinalizer(workload, decided) : decided;
  if (moment === undefined || !isDue(plan)) return plan;
  const hold = holdOf(workload, plan, lookup, policy, moment);
  if (hold === undefined) return withStreak(plan, workload, moment);
  const { reason, warnings, ...due } = plan;
  return { outcome: "held", due, hold, reason: `${reason}; ${hold.message}`, warnings };
}

/** Before anything else: a paused Deployment makes no Pods, whatever is written to it. */
function planResumed({ mistakes, deleting }: Workload): DuePlan {
  if (deleting) return { outcome: "ignore", reason: "is being deleted", warnings: [] };
  const reason = "Stakater's Reloader left it paused: it is resumed";
  return { outcome: "cleanUp", reason, warnings: oneForEachReason(mistakes) };
}

/** Also where it is being deleted: then it matters most. */
function withOldFinalizer({ oldFinalizer }: Workload, plan: DuePlan): DuePlan {
  return oldFinalizer ? { ...plan, warnings: [...plan.warnings, oldFinalizerWarning] } : plan;
}

function withStreak(plan: DueDecision & Told, workload: Workload, moment: Moment): DuePlan {
  if (plan.outcome !== "roll" && plan.outcome !== "firstHash") return plan;
  return isRoll(workload, plan) ? { ...plan, streak: nextStreak(workload, moment) } : plan;
}

function isDue(plan: DuePlan): plan is DueDecision & Told {
  switch (plan.outcome) {
    case "firstHash":
    case "recorded":
    case "roll":
    case "cleanUp":
      return true;
    case "ignore":
    case "current":
    case "waiting":
    case "overLimit":
      return false;
  }
}

function decide(workload: Workload, lookup: Lookup, policy: Policy, previous: ConfigView | undefined): DuePlan {
  const { mistakes, namespace } = workload;
  if (workload.deleting) return { outcome: "ignore", reason: "is being deleted", warnings: [] };
  if (policy.namespaces !== undefined && !policy.namespaces.includes(namespace)) {
    return { outcome: "ignore", reason: `is in namespace "${namespace}", which Wave does not watch`, warnings: [] };
  }
  if (!isIn(workload, policy)) return planOptedOut(workload, whyIgnored(namespace, policy));

  const unread = unreadTemplate(workload);
  if (unread !== undefined)
    return { outcome: "ignore", reason: unread.message, warnings: oneForEachReason([unread, ...mistakes]) };
  if (workload.limitExceeded !== undefined) return planOverLimit(workload, workload.limitExceeded, mistakes);
  const matched = matchedReferences(workload, policy);
  if (matched.limitExceeded !== undefined) return planOverLimit(workload, matched.limitExceeded, mistakes);
  const noted = notedClasses(workload, lookup);
  const counted = countedReferences(workload, noted.lookup, policy);
  const warnings = oneForEachReason([...mistakes, ...counted.warnings]);
  const limitExceeded = limitExceededBy(counted.references, counted.lookup);
  if (limitExceeded !== undefined) return planOverLimit(workload, limitExceeded, warnings);
  const missing = missingFrom(counted.references, counted.lookup);
  if (missing.length > 0) return { ...planIncomplete(workload, missing, policy), warnings };
  // Read once: another replica may just be changing the keys.
  const { hashKeys } = policy;
  const views = viewsThrough(counted, hashKeys, noted);
  if (!hasSchedulingHold(workload) && counted.references.every(({ reads }) => reads === "existence")) {
    const what = counted.leftOut.size > 0 ? "that counts" : "";
    return { outcome: "current", view: views.counted, reason: `reads no configuration ${what}`.trim(), warnings };
  }
  return { ...planComplete(workload, views, policy, hashKeys, previous), warnings };
}

/** It opted out, or it is in a namespace in which that is of no account. */
function planOptedOut(workload: Workload, ignored: string | undefined): DuePlan {
  const { optIn, mistakes } = workload;
  const unclear: readonly Warning[] = optIn.state === "unclear" ? [unclearOptIn(optIn.value)] : [];
  const warnings = oneForEachReason([...unclear, ...mistakes]);
  if (hasSchedulingHold(workload)) {
    return {
      outcome: "cleanUp",
      reason: `${ignored ? `is in ${ignored}` : "has opted out"}: its scheduler is restored`,
      warnings,
    };
  }
  if (ignored !== undefined) return { outcome: "ignore", reason: `is in ${ignored}`, warnings: [] };
  const madeBy = optIn.state === "out" ? optIn.madeBy : undefined;
  const out =
    madeBy === undefined ? "has not opted in" : `is left alone: ${madeBy} made it, and makes the next one anew`;
  return { outcome: "ignore", reason: unclear[0]?.message ?? out, warnings };
}

function unclearOptIn(value: string): Warning {
  return {
    reason: "InvalidAnnotation",
    message: `annotation ${updateOnConfigChange}: ${quoted(value)} is neither "true" nor "false"; write "true" to opt in`,
  };
}

/** A gate is lifted: nobody would find out that what its Pods wait for is there. */
function planOverLimit(workload: Workload, limitExceeded: LimitExceeded, others: readonly Warning[]): DuePlan {
  const much = describeLimitExceeded(limitExceeded, (object) => describeObject(object, workload.namespace));
  const warnings = oneForEachReason([{ reason: "OverLimit", message: `is not rolled: ${much}` }, ...others]);
  if (hasSchedulingHold(workload))
    return { outcome: "cleanUp", reason: `its scheduler is restored; it has ${much}`, warnings };
  return { outcome: "overLimit", limitExceeded, reason: `has ${much}`, warnings };
}

function planIncomplete(workload: Workload, missing: readonly Missing[], policy: Policy): Reasoned {
  const waiting = describeWaiting(missing, workload.namespace);
  if (isSchedulingHeld(workload) && !policy.schedulingHold) {
    return { outcome: "cleanUp", reason: `scheduling holds are off: its scheduler is restored; ${waiting}` };
  }
  return {
    outcome: "waiting",
    missing,
    schedulingHold: isSchedulingHeld(workload) ? "closed" : "open",
    reason: waiting,
  };
}
