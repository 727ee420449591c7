import type { Workload } from "../../../domain/model/workload-shape.ts";
import { type HoldReason, isRollAgain, type RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { alertSinceRollout } from "../../../domain/pacing/alerts.ts";
import type { WriteForChanges } from "../../../domain/pacing/batch-member.ts";
import { replacesPods } from "../../../domain/pacing/due.ts";
import { hasSettled, holdRows } from "../../../domain/pacing/holds.ts";
import type { ListedPods, Moment } from "../../../domain/pacing/moment.ts";
import { storedFailedAlert, writeFailedAlert } from "../../../domain/pacing/rollout-result.ts";
import { hasSoaked } from "../../../domain/pacing/rollout-time.ts";
import type { PacingFlags } from "../../../domain/policy/policy.ts";
import { configKey } from "../../../domain/references/references.ts";
import { sharedString } from "../../../domain/syntax/json.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { ReconcileOutcome } from "./outcome.ts";

/** The first and the last of some changes. */
export interface UnsettledChanges {
  /** When Wave saw the first one, in monotonic milliseconds. */
  readonly first: number;
  /** When Wave saw the last one, in monotonic milliseconds. */
  readonly last: number;
  /** The earliest time that the API has of them, in milliseconds since the epoch; undefined if it has none. */
  readonly storedFrom: number | undefined;
  /** The time that the API has of the last one, in milliseconds since the epoch; undefined if it has none. */
  readonly lastStored: number | undefined;
}

/** The last write to a pod template, the uid of the workload, and the changes that it is for. */
export type RolloutWrite = NonNullable<Moment["lastWrite"]> &
  Pick<WriteForChanges, "includes"> & { readonly uid: string };

/** How far a rollout is. Times are in monotonic milliseconds. */
export interface RememberedProgress {
  readonly hash: string | undefined;
  /** When Wave rolled the workload, in seconds since the epoch: a rollout with an unchanged hash makes new Pods, too. */
  readonly rolledAt: number;
  readonly step: number | string;
  readonly since: number;
  /** The highest step of this rollout, and since when: a Pod that becomes ready again and again is no progress. */
  readonly highest: number;
  readonly advancedAt: number;
  /** How long the rollout was complete before this step, in milliseconds: a complete rollout that loses a Pod has not failed. */
  readonly completeMs: number;
}

/** The hold of a due write, and its times in monotonic milliseconds. */
export interface RememberedHold {
  readonly reason: HoldReason;
  readonly since: number;
  /** The keys of the objects whose changes are due, if they are known. */
  readonly changed: ReadonlySet<string> | undefined;
  /** Whether only the times of the API show these changes: then they are newer than the hash, however old the caches are. */
  readonly isByTimes: boolean;
  /** When the hold ends by itself. */
  readonly untilMonotonic: number | undefined;
  /** When the window of the workload closes, and another hold is to be reported. */
  readonly closesAtMonotonic: number | undefined;
  /** From when on the hold is reported to the owner. */
  readonly reportAt: number;
}

/** When a hold is reported that ends soon by itself in most cases. */
const reportShortHoldsAfterMs = 30_000;

/** Reports whether the workload is only held until its configuration has settled. It is reconciled then at the latest. */
export function isSettling({ hold }: { readonly hold: RememberedHold | undefined }, now: number): boolean {
  return hold?.reason === "settling" && hold.untilMonotonic !== undefined && hold.untilMonotonic > now;
}

/** Returns the hold after a run that ended with `outcome`; undefined if nothing is due and held. */
export function holdAfter(
  before: RememberedHold | undefined,
  outcome: ReconcileOutcome,
  clock: Clock,
): RememberedHold | undefined {
  if (outcome.type !== "done" || outcome.plan.outcome !== "held") return undefined;
  const { due, hold, changed } = outcome.plan;
  const { reason } = hold;
  const now = clock.monotonic();
  const since = before?.reason === reason ? before.since : now;
  const onClock = (at: number | undefined) => at && now + at - clock.wall();
  return {
    reason,
    since,
    changed: changed && new Set(changed.map(configKey)),
    isByTimes: due.outcome === "roll" && due.changed === undefined,
    untilMonotonic: onClock(hold.until),
    closesAtMonotonic: onClock(hold.closesAt),
    reportAt: holdRows[reason].isShort && !hold.warning ? since + reportShortHoldsAfterMs : since,
  };
}

/** Returns the last reported hold of the due write after a run. `hold` is its hold now. */
export function heldByAfter(
  before: HoldReason | undefined,
  outcome: ReconcileOutcome,
  hold: RememberedHold | undefined,
  now: number,
): HoldReason | undefined {
  if (hold !== undefined) {
    const isReported = now >= hold.reportAt && !(before !== undefined && holdRows[hold.reason].isShort);
    return isReported ? hold.reason : before;
  }
  return outcome.type === "done" || outcome.type === "written" || outcome.type === "gone" ? undefined : before;
}

/** Returns the changes that are still to settle after a run. `seen` are the changes at the start of the run. */
export function changesAfter(
  changes: UnsettledChanges | undefined,
  outcome: ReconcileOutcome,
  seen: UnsettledChanges | undefined,
): UnsettledChanges | undefined {
  const plan = outcome.type === "done" ? outcome.plan : undefined;
  const settled = plan !== undefined && (plan.outcome !== "held" || hasSettled(plan.hold));
  if (outcome.type !== "written" && !settled) return changes;
  // Changes during the run are for the next one.
  if (changes === seen || changes === undefined) return undefined;
  const { last, lastStored } = changes;
  return { first: last, last, storedFrom: lastStored, lastStored };
}

/** Returns how far the last rollout of a workload is; undefined if only an earlier rollout is known. */
export function progressOf(
  { progress }: { readonly progress: RememberedProgress | undefined },
  { recordedHash, rolledAt }: Pick<Workload, "recordedHash" | "rolledAt">,
): RememberedProgress | undefined {
  return progress?.hash === recordedHash && progress?.rolledAt === rolledAt ? progress : undefined;
}

/**
 * Stores how far the rollout is, and since when. The loss of a Pod is no step back: the time before it stays. While a workload is idle, its
 * rollout can make no progress, so it has its whole timeout afterwards.
 */
export function rememberProgress(
  findings: { progress: RememberedProgress | undefined },
  workload: Pick<Workload, "recordedHash" | "rolledAt" | "progress">,
  now: number,
): void {
  const { recordedHash: hash, rolledAt, progress } = workload;
  const step = progress.state === "progressing" ? progress.step : progress.state;
  const before = progressOf(findings, workload);
  if (before?.step === step) return;
  if (typeof before?.step === "number" && typeof step === "number" && step < before.step) return;
  const reached = typeof step === "number" ? step : step === "complete" ? Number.POSITIVE_INFINITY : undefined;
  const isFirst = before === undefined || before.step === "idle";
  const isAdvance = isFirst || (reached !== undefined && reached > before.highest);
  // No spread: V8 keeps fields after a spread in an array beside the object, for each workload.
  findings.progress = {
    hash,
    rolledAt,
    step,
    since: now,
    completeMs: before ? completeMsOf(before, now) : 0,
    highest: isAdvance ? (reached ?? Number.NEGATIVE_INFINITY) : before.highest,
    advancedAt: isAdvance ? now : before.advancedAt,
  };
}

/** Reports whether the last rollout of a workload has been complete for the soak time. */
export function hasBeenComplete(
  findings: { readonly progress: RememberedProgress | undefined },
  workload: Pick<Workload, "recordedHash" | "rolledAt">,
  soakMs: number,
  now: number,
): boolean {
  const progress = progressOf(findings, workload);
  return progress !== undefined && hasSoaked(completeMsOf(progress, now), soakMs);
}

/** Returns the longest time for which a rollout was complete, in milliseconds. */
function completeMsOf({ step, since, completeMs }: RememberedProgress, now: number): number {
  return step === "complete" ? Math.max(completeMs, now - since) : completeMs;
}

/**
 * Returns the last rollout after a write of `plan`: this write if it makes new Pods. `hasPassed`: whether the rollout before it was complete
 * for the soak time, and so has shown what it can show.
 */
export function lastWriteAfter(
  { lastWrite }: { readonly lastWrite: RolloutWrite | undefined },
  before: Workload,
  plan: RolloutPlan,
  hasPassed: boolean,
  now: number,
): RolloutWrite | undefined {
  if (plan.outcome !== "roll" && plan.outcome !== "firstHash") return lastWrite;
  if (isRollAgain(plan) || !replacesPods(before, plan)) return lastWrite;
  const isOfLast = lastWrite?.uid === before.uid && lastWrite.hash === before.recordedHash;
  const again = lastWrite?.uid === before.uid && lastWrite.hash === plan.hash && before.recordedHash !== plan.hash;
  return {
    at: now,
    uid: before.uid,
    hash: sharedString(plan.hash),
    consecutiveRollouts: plan.consecutiveRollouts ?? 1,
    timesReverted: again ? lastWrite.timesReverted + 1 : 0,
    includes: includedIn(plan, hasPassed, isOfLast ? lastWrite.includes : undefined),
  };
}

/** Returns the keys of the changed objects for which a rollout is, with those `before` it if the rollout before has not passed. */
function includedIn(plan: RolloutPlan, hasPassed: boolean, before: RolloutWrite["includes"]): RolloutWrite["includes"] {
  if (plan.outcome !== "roll" || plan.changed === undefined) return undefined;
  const changed = plan.changed.map((object) => sharedString(configKey(object)));
  if (hasPassed) return changed;
  return before && [...new Set([...before, ...changed])];
}

/** A list of the Pods of a workload, when it was in this version. */
export interface PodsRead {
  readonly uid: string;
  readonly resourceVersion: number;
  /** Its progress in the cache before the list. Another object is a later status, which may be of other Pods. */
  readonly progress: Workload["progress"];
  /** In monotonic milliseconds. */
  readonly at: number;
  /** Undefined: the list failed. */
  readonly listed: ListedPods | undefined;
}

/** A rollout during which an alert began to fire. */
export interface FailedAlert {
  readonly uid: string;
  /** The annotation that records it. It names the rollout, and so is not that of another one. */
  readonly text: string;
}

/** Stores that an alert began to fire during the last rollout of a workload, if one did. */
export function rememberFailedAlert(
  findings: { failedAlert: FailedAlert | undefined },
  workload: Workload,
  flags: PacingFlags,
  moment: Moment,
): void {
  const alert = alertSinceRollout(workload, flags, moment);
  if (alert !== undefined) findings.failedAlert = { uid: workload.uid, text: writeFailedAlert(workload, alert) };
}

/** Returns the alert that began to fire during the last rollout of a workload, as this process saw it; undefined if it saw none. */
export function knownFailedAlert(
  { failedAlert }: { readonly failedAlert: FailedAlert | undefined },
  workload: Workload,
): string | undefined {
  return failedAlert?.uid === workload.uid ? storedFailedAlert(workload, failedAlert.text) : undefined;
}
