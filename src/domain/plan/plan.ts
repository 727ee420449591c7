// What is due for a workload, from its stored state alone. Pure, as everything in this folder.

import type { ConfigView } from "../config/hash.ts";
import { withLegacyVerification } from "../config/legacy-hash.ts";
import { describeObject, type Lookup } from "../config/view-of-references.ts";
import { hasSchedulingHold, oldFinalizerWarning } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { DuePlan, ExplainedDecision, PinsReturn } from "../outcomes/outcomes.ts";
import type { Moment } from "../pacing/moment.ts";
import { rolloutResult } from "../pacing/rollout-result.ts";
import { hasSoaked, lastRolloutAt, resumedAfter } from "../pacing/rollout-time.ts";
import {
  formatConfigMaps,
  isPinned,
  pinsBeforeRollout,
  pinTexts,
  previousPinsOf,
  readAsCopy,
  returnsOnFailure,
  rolledBack,
  unusableCopies,
} from "../pinning/pin-request.ts";
import { type PinnedLookup, pinnedLookup } from "../pinning/pinned-lookup.ts";
import { formatRejected, parseRejected, rejectionDigest, withRejected } from "../pinning/rejections.ts";
import { readPolicyValue } from "../policy/policy-rows.ts";
import { isOptedIn, type Rules } from "../policy/rules.ts";
import { configKey } from "../references/references.ts";
import { invalidAnnotationTexts, mergeWarnings, type Warning } from "../references/warning.ts";
import { formatList } from "../syntax/names.ts";
import { planDue } from "./due-plan.ts";

/**
 * Returns what is due for a workload, whether it may happen now or not: the part of {@link decide} that does not depend on holds. `previous` is
 * the last known view of the workload.
 */
export function planRollout(workload: Workload, lookup: Lookup, rules: Rules, previous?: ConfigView): DuePlan {
  return planWanted(wantedOf(workload, lookup, rules, undefined), rules, previous, undefined);
}

/** A workload, and what its new Pods are to read. */
export interface Wanted extends PinnedLookup {
  /** The workload. A hash of another controller that was verified is its recorded hash. */
  readonly workload: Workload;
}

/** Returns what new Pods of a workload are to read: not what was rolled back. */
export function wantedOf(stored: Workload, live: Lookup, rules: Rules, legacy: Moment["legacy"]): Wanted {
  const workload = withLegacyVerification(stored, legacy);
  if (workload.rejected === undefined || !isPinned(workload, rules))
    return { workload, lookup: live, kept: new Set(), unusable: [] };
  return { workload, ...withRejected(workload, live, rules) };
}

/** Returns what is due, with its warnings. Without a moment, a workload is not new, and the pause of Stakater Reloader stays, as in a webhook. */
export function planWanted(
  { workload, lookup, kept, unusable }: Wanted,
  rules: Rules,
  previous: ConfigView | undefined,
  moment: Moment | undefined,
): DuePlan {
  const unpauses =
    moment !== undefined && workload.pausedByReloader && isOptedIn(workload, rules) && !hasSchedulingHold(workload);
  const decided = unpauses
    ? planUnpause(workload)
    : withUnrestored(planDue(workload, lookup, rules, previous, moment), workload, kept);
  const checked = rules.ownership === undefined ? withOldFinalizerWarning(workload, decided) : decided;
  const pinWarnings = [
    ...(decided.outcome === "ignore" ? [] : returnMistakes(workload, rules)),
    ...(kept.size > 0 ? [rolledBack([...kept].sort())] : []),
    ...(unusable.length > 0 ? [unusableCopies(unusable)] : []),
  ];
  return pinWarnings.length === 0
    ? checked
    : { ...checked, warnings: mergeWarnings([...checked.warnings, ...pinWarnings]) };
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

/** Limit of the objects in a reason. */
const shownObjects = 3;

/**
 * Adds to the reason of a rollout after an undo what the undo does not restore: the hash of the earlier revision includes it, too. `kept` are
 * the ConfigMaps that Pods read from the copies of that revision. A rollout with known changes names them already.
 */
function withUnrestored<T extends ExplainedDecision>(
  decision: T,
  { namespace }: Workload,
  kept: ReadonlySet<string>,
): T {
  if (decision.outcome !== "roll" || decision.changed !== undefined || kept.size === 0) return decision;
  const isKept = (object: { kind: string; namespace: string; name: string }) =>
    object.kind === "ConfigMap" && object.namespace === namespace && kept.has(object.name);
  const objects = new Map(decision.view.entries.filter((each) => !isKept(each)).map((each) => [configKey(each), each]));
  if (objects.size === 0) return decision;
  const names = formatList([...objects.values()], shownObjects, (each) => describeObject(each, namespace));
  const suffix = `, and a rollback does not restore ${names}`;
  return { ...decision, suffix, reason: decision.reason + suffix };
}

/** Whether a workload returns to the pins before its last rollout. */
type ReturnPlan =
  | { readonly type: "none" }
  /** The rollout has neither passed nor failed. It must be planned again at this time, in milliseconds since the epoch. */
  | { readonly type: "later"; readonly at: number }
  /** The rollout has passed, which a later process cannot see. `previousPins` is the annotation with which the workload does not return. */
  | { readonly type: "passed"; readonly previousPins: string | undefined }
  /** The rollout failed, and the copies to return to cannot be used. */
  | { readonly type: "impossible"; readonly warning: Warning }
  | { readonly type: "now"; readonly plan: Extract<DuePlan, { readonly outcome: "roll" }> };

/**
 * Decides whether a workload returns to the pins before its last rollout. A rollout by Wave that fails returns once to the pins before it, unless
 * a person or a newer edit decides otherwise. Content that is live and was in
 * the failed rollout is rejected, so that Wave does not roll to it again. Live content that is newer is not rejected.
 */
export function planReturn(
  workload: Workload,
  live: Lookup,
  rules: Rules,
  previous: ConfigView | undefined,
  moment: Moment,
): ReturnPlan {
  const pinned = pinsBeforeRollout(workload);
  if (pinned === undefined || pinned === workload.pinned || !returnsOnFailure(workload, rules)) return none;
  const end = endOfRollout(workload, rules, moment);
  if (end === undefined) return none;
  if (end.at > moment.now) return Number.isFinite(end.at) ? { type: "later", at: end.at } : none;
  if (end.type === "passed")
    return { type: "passed", previousPins: previousPinsOf(workload.recordedHash, workload.pinned) };
  const canBeRead = readAsCopy(workload, live, rules);
  const before = pinnedLookup({ ...workload, pinned }, live, canBeRead);
  if (before.unusable.length > 0) {
    const message = pinTexts.cannotReturn(before.unusable);
    return { type: "impossible", warning: { reason: "Unpinned", message } };
  }
  const returns = returnTo(pinned, workload, live, before.lookup, [...before.kept].sort());
  if (returns === undefined) return none;
  const due = planDue(workload, before.lookup, rules, previous);
  if (due.outcome !== "roll") return none;
  const reason = `the rollout failed, and Pods return to the earlier content of ${formatConfigMaps(returns.names)}`;
  return { type: "now", plan: { ...due, reason, returns } };
}

/** Returns a warning if a workload asks to return and has no pins. On a Namespace, the annotation is also for workloads that are not pinned. */
function returnMistakes(workload: Workload, rules: Rules): readonly Warning[] {
  const text = workload.policy["on-failure"];
  if (text === undefined || readPolicyValue("on-failure", text) !== "return" || isPinned(workload, rules)) return [];
  return [{ reason: "InvalidAnnotation", message: invalidAnnotationTexts.returnWithoutPins }];
}

const none: ReturnPlan = { type: "none" };

/**
 * Returns when the last rollout passes or fails, in milliseconds since the epoch; 0 if it failed already, undefined if it has no result or
 * a person resumed it. A rollout that was complete passes when Wave no longer reads whether its containers restart again and again.
 */
function endOfRollout(
  workload: Workload,
  rules: Rules,
  moment: Moment,
): { readonly type: "passed" | "failed"; readonly at: number } | undefined {
  const flags = rules.pacing;
  const rolledAt = lastRolloutAt(workload, moment) ?? 0;
  if (resumedAfter(rules.resumedAt, rolledAt, moment.now)) return undefined;
  // The pins before it are noted as previous ones until the rollout has passed.
  const result = rolloutResult(workload, flags, moment, true);
  switch (result?.state) {
    case "failed":
      return { type: "failed", at: 0 };
    case "inProgress":
      return { type: "failed", at: result.failsAt };
    case "complete": {
      const hasPassed = hasSoaked(moment.completeMs ?? 0, flags.soakMs);
      const soakedAt = hasPassed ? 0 : moment.progressSince + Math.max(1, flags.soakMs);
      return { type: "passed", at: Math.max(rolledAt + flags.rolloutTimeoutMs, soakedAt) };
    }
    default:
      return undefined;
  }
}

/** Returns where a workload returns to; undefined if all earlier content is that of the failed rollout. */
function returnTo(
  pinned: string,
  workload: Workload,
  live: Lookup,
  earlier: Lookup,
  names: readonly string[],
): PinsReturn | undefined {
  const failed = pinnedLookup(workload, live, () => true).lookup;
  const digest = (lookup: Lookup, name: string) => rejectionDigest(workload, lookup, name);
  const returned = names.filter((name) => digest(earlier, name) !== digest(failed, name));
  if (returned.length === 0) return undefined;
  const rejected = new Map(parseRejected(workload.rejected));
  for (const name of returned) {
    if (digest(failed, name) === digest(live, name)) rejected.set(name, digest(live, name));
  }
  return { pinned, rejected: formatRejected(rejected), names: returned };
}
