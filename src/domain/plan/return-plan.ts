import type { ConfigView } from "../config/hash.ts";
import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { DuePlan, PinsReturn } from "../outcomes/outcomes.ts";
import type { Moment } from "../pacing/moment.ts";
import { rolloutResult } from "../pacing/rollout-result.ts";
import { hasSoaked, lastRolloutAt, resumedSince } from "../pacing/rollout-time.ts";
import {
  formatConfigMaps,
  isPinned,
  pinsBeforeRollout,
  pinTexts,
  previousPinsOf,
  readAsCopy,
  returnsOnFailure,
} from "../pinning/pin-request.ts";
import { pinnedLookup } from "../pinning/pinned-lookup.ts";
import { formatRejected, parseRejected, rejectionDigest } from "../pinning/rejections.ts";
import { type Policy, unpaced } from "../policy/policy.ts";
import { readPolicyValue } from "../policy/policy-rows.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { invalidAnnotationTexts, type Warning } from "../references/warning.ts";
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
 * Decides whether a workload returns to the pins before its last rollout. A rollout by Wave that fails returns once to the pins before it, unless
 * a person or a newer edit decides otherwise. Content that is live and was in
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
  if (pinned === undefined || pinned === workload.pinned || !returnsOnFailure(workload, policy)) return none;
  const end = endOfRollout(workload, policy, moment);
  if (end === undefined) return none;
  if (end.at > moment.now) return Number.isFinite(end.at) ? { type: "later", at: end.at } : none;
  if (end.type === "passed")
    return { type: "passed", previousPins: previousPinsOf(workload.recordedHash, workload.pinned) };
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
 * Returns when the last rollout passes or fails, in milliseconds since the epoch; 0 if it failed already, undefined if it has no result or
 * a person resumed it. A rollout that was complete passes when Wave no longer reads whether its containers restart again and again.
 */
function endOfRollout(
  workload: Workload,
  policy: Policy,
  moment: Moment,
): { readonly type: "passed" | "failed"; readonly at: number } | undefined {
  const flags = policy.pacing ?? unpaced;
  const rolledAt = lastRolloutAt(workload, moment) ?? 0;
  if (resumedSince(rolloutPolicyOf(workload, policy).resumedAt, rolledAt, moment.now)) return undefined;
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
