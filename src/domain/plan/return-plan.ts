import type { ConfigView } from "../config/hash.ts";
import type { Lookup } from "../config/view-of-references.ts";
import { isComplete } from "../model/progress.ts";
import type { Workload } from "../model/workload.ts";
import type { DuePlan, PinsReturn } from "../outcomes/outcomes.ts";
import { hasSoaked } from "../pacing/has-soaked.ts";
import type { Moment } from "../pacing/moment.ts";
import { rolloutDeadline } from "../pacing/rollout-result.ts";
import { lastRolloutAt } from "../pacing/rollout-time.ts";
import { resumedSince } from "../pacing/stage.ts";
import { isPinned, readAsCopy } from "../pinning/pin-request.ts";
import { formatConfigMaps, pinTexts } from "../pinning/pin-texts.ts";
import { pinnedLookup } from "../pinning/pinned-lookup.ts";
import { pinsBeforeRollout, previousPinsOf, returnsOnFailure } from "../pinning/previous-pins.ts";
import { formatRejected, parseRejected, rejectionDigest } from "../pinning/rejections.ts";
import { unpaced } from "../policy/pacing-flags.ts";
import type { Policy } from "../policy/policy.ts";
import { readPolicyValue } from "../policy/policy-rows.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import type { Warning } from "../references/warning.ts";
import { invalidAnnotationTexts } from "../references/warning-texts.ts";
import { planDue } from "./due-plan.ts";

/** Whether a workload returns to the pins before its last rollout. */
export type ReturnPlan =
  | { readonly type: "none" }
  /** The rollout has neither passed nor failed. It must be planned again at this time, in milliseconds since the epoch. */
  | { readonly type: "later"; readonly at: number }
  /** The rollout has passed, which a later process cannot see. `previousPins` is the annotation with which the workload does not return. */
  | { readonly type: "passed"; readonly previousPins: string | undefined }
  /** The rollout failed, and the copies to return to cannot be used. */
  | { readonly type: "impossible"; readonly warning: Warning }
  | { readonly type: "now"; readonly plan: Extract<DuePlan, { readonly outcome: "roll" }> };

/**
 * Decides whether a workload returns to the pins before its last rollout, because that rollout by Wave failed. Content that is live and was in
 * the failed rollout is rejected, so that Wave does not roll to it again. Live content that is newer is not rejected.
 */
export function planReturn(
  workload: Workload,
  live: Lookup,
  policy: Policy,
  previous: ConfigView | undefined,
  moment: Moment,
): ReturnPlan {
  const pinned = pinsBeforeRollout(workload);
  if (pinned === undefined || pinned === workload.pinned) return none;
  if (workload.pinned === undefined || !returnsOnFailure(workload, policy)) return none;
  const end = endOfRollout(workload, policy, moment);
  if (end === undefined) return none;
  if (end.at > moment.now) return Number.isFinite(end.at) ? { type: "later", at: end.at } : none;
  if (end.type === "passed")
    return { type: "passed", previousPins: previousPinsOf(workload.recordedHash, workload.pinned) };
  // A rollout of another client may have failed for another reason than the configuration.
  if (workload.templateEditedAt > workload.rolledAt) return none;
  const canBeRead = readAsCopy(workload, live, policy);
  const before = pinnedLookup({ ...workload, pinned }, live, canBeRead);
  if (before.unusable.length > 0) {
    const message = pinTexts.cannotReturn(before.unusable);
    return { type: "impossible", warning: { reason: "Unpinned", message } };
  }
  const returns = returnTo(pinned, workload, live, before.lookup, [...before.kept].sort());
  if (returns === undefined) return none;
  const due = planDue(workload, before.lookup, policy, previous);
  if (due.outcome !== "roll") return none;
  const reason = `the rollout failed, and Pods return to the earlier content of ${formatConfigMaps(returns.names)}`;
  return { type: "now", plan: { ...due, reason, returns } };
}

/** Returns a warning if a workload asks to return and has no pins. On a Namespace, the annotation is also for workloads that are not pinned. */
export function returnMistakes(workload: Workload, policy: Policy): readonly Warning[] {
  const text = workload.policy["on-failure"];
  if (text === undefined || readPolicyValue("on-failure", text) !== "return" || isPinned(workload, policy)) return [];
  return [{ reason: "InvalidAnnotation", message: invalidAnnotationTexts.returnWithoutPins }];
}

const none: ReturnPlan = { type: "none" };

/**
 * Returns when the last rollout passes or fails, in milliseconds since the epoch; 0 if it failed already, undefined if it replaces no Pod or
 * a person resumed it. A rollout that was complete passes when Wave no longer reads whether its containers restart again and again.
 */
function endOfRollout(
  workload: Workload,
  policy: Policy,
  moment: Moment,
): { readonly type: "passed" | "failed"; readonly at: number } | undefined {
  const { progress } = workload;
  const rolledAt = lastRolloutAt(workload, moment);
  if (rolledAt === undefined || progress.state === "idle") return undefined;
  const flags = policy.pacing ?? unpaced;
  if (resumedSince(rolloutPolicyOf(workload, policy).resumedAt, rolledAt, moment.now)) return undefined;
  if (moment.restarts) return { type: "failed", at: 0 };
  const watchedUntil = rolledAt + flags.rolloutTimeoutMs;
  if (hasSoaked(moment.completeMs ?? 0, flags.soakMs)) return { type: "passed", at: watchedUntil };
  if (progress.state === "complete" || isComplete(workload)) {
    const soakedAt = moment.progressSince + Math.max(1, flags.soakMs);
    return { type: "passed", at: Math.max(watchedUntil, soakedAt) };
  }
  const lastProgress = Math.max(rolledAt, moment.advancedAt ?? 0);
  return { type: "failed", at: rolloutDeadline(progress, lastProgress, flags) };
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
