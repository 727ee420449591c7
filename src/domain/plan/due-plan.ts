import type { ConfigView } from "../config/hash.ts";
import { recordedClassesOf } from "../config/recorded-digests.ts";
import { matchedReferences, trackedReferences } from "../config/tracked-references.ts";
import { missingTemplateWarning, trackedViews, withWholeObjects } from "../config/tracked-view.ts";
import {
  describeMissing,
  describeObject,
  type Lookup,
  limitExceededBy,
  type Missing,
  missingFrom,
} from "../config/view-of-references.ts";
import {
  acceptsSchedulingHold,
  hasSchedulingHold,
  holdExpiredText,
  isSchedulingHeld,
  schedulingHoldEndsAt,
} from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { Decision, DuePlan, ExplainedDecision } from "../outcomes/outcomes.ts";
import type { Moment } from "../pacing/moment.ts";
import { isRollRequested } from "../pacing/requested-holds.ts";
import { ignoredReason, isOptedIn, type Rules } from "../policy/rules.ts";
import { updateOnConfigChange } from "../references/annotations.ts";
import { describeLimitExceeded, type LimitExceeded } from "../references/references.ts";
import { invalidAnnotationTexts, mergeWarnings, overLimitText, type Warning } from "../references/warning.ts";
import { quoted } from "../syntax/names.ts";
import { planComplete, withRemoved } from "./compare-hash.ts";
import { evidenceOf } from "./evidence.ts";

/** Decides what is due, without regard to holds. Without a `moment`, nothing is known about the Pods. */
export function planDue(
  workload: Workload,
  lookup: Lookup,
  rules: Rules,
  previous: ConfigView | undefined,
  moment?: Moment,
): DuePlan {
  const { mistakes, namespace } = workload;
  if (workload.deleting) return ignored("the workload is being deleted", []);
  if (rules.namespaces !== undefined && !rules.namespaces.includes(namespace))
    return ignored(`Wave does not watch namespace ${quoted(namespace)}`, []);
  if (!isOptedIn(workload, rules)) return planOptedOut(workload, ignoredReason(namespace, rules));

  const noTemplate = missingTemplateWarning(workload);
  if (noTemplate !== undefined) return ignored(asClause(noTemplate.message), [noTemplate, ...mistakes]);
  if (workload.limitExceeded !== undefined) return planOverLimit(workload, workload.limitExceeded, mistakes);
  const matched = matchedReferences(workload, rules);
  if (matched.limitExceeded !== undefined) return planOverLimit(workload, matched.limitExceeded, mistakes);
  const classes = recordedClassesOf(workload, lookup);
  const whole = withWholeObjects(trackedReferences(workload, classes.lookup, rules), namespace);
  const { tracked } = whole;
  const warnings = mergeWarnings([...mistakes, ...tracked.warnings, ...whole.warnings]);
  const limitExceeded = limitExceededBy(tracked.references, tracked.lookup);
  if (limitExceeded !== undefined) return planOverLimit(workload, limitExceeded, warnings);
  const missing = missingFrom(tracked.references, tracked.lookup);
  if (missing.length > 0) return planIncomplete(workload, missing, rules, warnings, moment?.now);
  const views = withRemoved(trackedViews(tracked, rules.hashKeys, classes), workload);
  if (!hasSchedulingHold(workload) && tracked.references.every(({ reads }) => reads === "existence")) {
    const what = tracked.untracked.size > 0 ? "no tracked configuration" : "no configuration";
    return { outcome: "current", view: views.tracked, reason: `the workload reads ${what}`, warnings };
  }
  const evidence = () => moment && evidenceOf(workload, tracked.references, tracked.lookup, moment);
  const decision = planComplete(workload, views, rules, previous, evidence);
  if (moment === undefined) return { ...decision, warnings };
  return { ...withMixedPods(withRequestedRestart(decision, workload, rules, moment), workload, moment), warnings };
}

/** The reasons of a rollout that replaces Pods without another hash, after the number of these Pods. */
const mixedReasons = {
  reverted: "may run configuration that was reverted",
  unpinned: "may read live configuration instead of pinned copies",
} as const;

/** Returns the rollout of a workload whose Pods have the current hash, and may run another configuration. */
function withMixedPods(
  decision: ExplainedDecision,
  { recordedHash }: Workload,
  { mixed: found }: Moment,
): ExplainedDecision {
  if (decision.outcome !== "current" || found === undefined) return decision;
  const { mixed, total, cause } = found;
  const reason = `${mixed} of ${total} ${total === 1 ? "Pod" : "Pods"} ${mixedReasons[cause]}`;
  const { view } = decision;
  return { outcome: "roll", hash: recordedHash ?? view.hash, view, changed: undefined, again: true, reason };
}

/** Returns the restart of Pods that may read an earlier configuration, if a person requested it. */
function withRequestedRestart(
  decision: ExplainedDecision,
  workload: Workload,
  rules: Rules,
  moment: Moment,
): ExplainedDecision {
  if (decision.outcome !== "current" || decision.unproven === undefined) return decision;
  if (!isRollRequested({ workload, rules, moment })) return decision;
  const { view, reason } = decision;
  return { outcome: "firstHash", hash: view.hash, view, reason };
}

function ignored(reason: string, warnings: readonly Warning[]): DuePlan {
  return { outcome: "ignore", reason, warnings: mergeWarnings(warnings) };
}

/** Plans a workload that is not opted in, or is in an ignored namespace. `why` describes that namespace. */
function planOptedOut(workload: Workload, why: string | undefined): DuePlan {
  const { optIn, mistakes } = workload;
  const unclear: readonly Warning[] = optIn.state === "unclear" ? [unclearOptIn(optIn.value)] : [];
  const warnings = mergeWarnings([...unclear, ...mistakes]);
  if (hasSchedulingHold(workload)) {
    const cause = why === undefined ? "the workload has opted out" : `the workload is in ${why}`;
    return { ...cleanUp(cause), warnings };
  }
  if (why !== undefined) return ignored(`the workload is in ${why}`, []);
  const controlledBy = optIn.state === "out" ? optIn.controlledBy : undefined;
  const out =
    controlledBy === undefined
      ? "the workload has not opted in"
      : `${controlledBy} manages this workload and replaces it`;
  return { outcome: "ignore", reason: asClause(unclear[0]?.message ?? out), warnings };
}

function unclearOptIn(value: string): Warning {
  return {
    reason: "InvalidAnnotation",
    message: invalidAnnotationTexts.unclearOptIn(updateOnConfigChange, value),
  };
}

/** A scheduling hold is removed: nothing would notice that the missing configuration of its Pods exists. */
function planOverLimit(workload: Workload, limitExceeded: LimitExceeded, others: readonly Warning[]): DuePlan {
  const excess = describeLimitExceeded(limitExceeded, (object) => describeObject(object, workload.namespace));
  const warnings = mergeWarnings([{ reason: "OverLimit", message: overLimitText(excess) }, ...others]);
  const reason = asClause(`over limit: ${excess}`);
  if (hasSchedulingHold(workload)) return { ...cleanUp(reason), warnings };
  return { outcome: "overLimit", limitExceeded, reason, warnings };
}

/** Without `now`, a scheduling hold does not end by itself. In milliseconds since the epoch. */
function planIncomplete(
  workload: Workload,
  missing: readonly Missing[],
  rules: Rules,
  warnings: readonly Warning[],
  now: number | undefined,
): DuePlan {
  const described = describeMissing(missing, workload.namespace);
  const reason = `waiting for ${described}`;
  if (!isSchedulingHeld(workload)) return { outcome: "waiting", missing, schedulingHold: "open", reason, warnings };
  if (!rules.schedulingHold) return { ...cleanUp(`scheduling holds are off; ${reason}`), warnings };
  if (!acceptsSchedulingHold(workload)) return { ...cleanUp(`its Pods would stay pending; ${reason}`), warnings };
  const endsAt = schedulingHoldEndsAt(workload);
  if (now === undefined || now < endsAt)
    return { outcome: "waiting", missing, schedulingHold: "closed", reason, warnings, checkAt: endsAt };
  const message = holdExpiredText(described);
  const all: readonly Warning[] = [...warnings, { reason: "SchedulingHoldExpired", message }];
  return { ...cleanUp(`it is 10 minutes old; ${reason}`), warnings: all };
}

/** Returns a text without its final period, as the reason of a plan requires. */
function asClause(text: string): string {
  return text.replace(/\.$/, "");
}

function cleanUp(cause: string): Extract<Decision, { outcome: "cleanUp" }> & { readonly reason: string } {
  return { outcome: "cleanUp", reason: `the scheduling hold is removed: ${cause}` };
}
