// Validators: workloads whose Pods check a change before any other workload rolls.

import { isComplete, type Progress } from "../model/kind-row.ts";
import { templateEditAt, type Workload } from "../model/workload-shape.ts";
import type { HoldReason } from "../outcomes/outcomes.ts";
import type { LastRolloutPods } from "../pods/new-pods.ts";
import type { PacingFlags } from "../policy/policy.ts";
import { isValidator } from "../policy/rules.ts";
import { holdRows } from "./holds.ts";
import { rolloutDeadline } from "./rollout-result.ts";
import { hasMark, isEditedSinceRollout, resumedAfter, resumedSince, storedRolloutAt } from "./rollout-time.ts";
import { type Stage, type StageFacts, soak } from "./stage.ts";

/**
 * Returns when the last rollout of a workload began, in milliseconds since the epoch: its Pods are newer. Each write of the template of a validator
 * counts, also of another client.
 */
export function rolloutStartOf(workload: Workload, now: number): number {
  return isValidator(workload) ? templateWrittenAt(workload, now) : workload.rolledAt * 1000;
}

function templateWrittenAt(workload: Workload, now: number): number {
  return Math.max(storedRolloutAt(workload, now), storedRolloutAt({ rolledAt: templateEditAt(workload) }, now));
}

/**
 * Returns which Pods are those of the last rollout of a workload. Undefined if there was none, or if another client changed the template since:
 * except for a validator, Pods that fail do so for another reason then.
 */
export function podsOfRollout(workload: Workload, now: number): LastRolloutPods | undefined {
  const { recordedHash: hash, rolledAt } = workload;
  const ofValidator = isValidator(workload);
  if (!ofValidator && (rolledAt === 0 || isEditedSinceRollout(workload))) return undefined;
  return { hash, rolledAt: rolloutStartOf(workload, now), now, ofValidator };
}

/** A template that another client wrote so long before a change, or later, was most likely applied with it, in milliseconds. */
const appliedWithinMs = 60_000;

/**
 * Reports whether a validator can check a change: it is complete, or only its last rollout by Wave is the reason why it is not. Then it was
 * complete before that rollout, and has not been since. Or another client has just changed its pod template, and it had Pods before. All of it
 * follows from the API, also without old Pods. `changedAt` is in milliseconds since the epoch.
 */
export function canCheck(workload: Workload, changedAt: number): boolean {
  const { progress, rolledAt } = workload;
  const editedAt = templateEditAt(workload);
  if (isComplete(workload)) return true;
  if (progress.state === "idle") return false;
  const wasComplete = wasCompleteBefore(workload);
  const isApplied = editedAt > rolledAt && editedAt * 1000 >= changedAt - appliedWithinMs;
  if (isApplied && progress.state === "progressing") {
    const { unavailableSince: since = Number.POSITIVE_INFINITY } = progress;
    if (since >= editedAt || (wasComplete && since >= rolledAt)) return true;
  }
  return isRolledByWave(workload) && !hasLostPods(workload);
}

/** Reports whether Wave has rolled a validator, and it was complete before its last rollout by Wave. */
function wasCompleteBefore(workload: Workload): boolean {
  return workload.consecutiveRollouts !== undefined && !hasMark(workload);
}

/** Reports whether only the last rollout by Wave can be why a validator was not complete at the end of it. */
function isRolledByWave(workload: Workload): boolean {
  const { rolledAt, hashWrittenAt } = workload;
  // Another client may have changed the template together with an earlier edit. Then Wave has recorded a hash since.
  return wasCompleteBefore(workload) && templateEditAt(workload) <= Math.max(rolledAt, hashWrittenAt);
}

/** Reports whether a validator was complete since its last rollout, and is not now. */
function hasLostPods({ progress }: Workload): boolean {
  return progress.state === "progressing" && progress.lostPods === true;
}

/** The facts that determine the stage of a validator. */
export interface ValidatorFacts extends Omit<StageFacts, "workload"> {
  readonly workload: Workload;
  /** The hold of its due write, apart from batches; undefined if there is none. */
  readonly heldBy: HoldReason | undefined;
  /** Why Wave cannot roll it, as a clause for people; undefined if Wave can. */
  readonly blocked: string | undefined;
}

/**
 * Returns the stage of a validator for the last change of an object. Undefined if its rollout was for other objects, if it has passed before the change, or
 * if a person resumed it. It has passed when its rollout was complete for the soak time, and fails at the first container that exits with another code than 0.
 * The rollout is the last one, of Wave or of another client. A validator that need not be rolled runs with its present content. So the rollout may be
 * older than the change, which is then of keys that the validator does not read.
 */
export function validatorStage(facts: ValidatorFacts, flags: PacingFlags, now: number): Stage | undefined {
  const { workload, changedAt, seenAt, writtenAt = 0, completeSince = now, heldBy, newPods } = facts;
  const { progress } = workload;
  if (facts.due) {
    const resumedAt = resumedSince(facts.resumed, changedAt, now) ? facts.resumed : undefined;
    return { state: "due", resumedAt, wasComplete: canCheck(workload, changedAt) };
  }
  const unusable = (why: string): Stage => ({ state: "unusable", why });
  if (facts.isDueForIt || facts.blocked !== undefined) {
    if (resumedSince(facts.resumed, changedAt, now)) return undefined;
    if (facts.blocked !== undefined) return unusable(facts.blocked);
    if (heldBy === undefined || !holdRows[heldBy].isWaitedFor) return unusable(`its rollout is held (${heldBy})`);
    return progress.state === "idle"
      ? idle(workload)
      : canCheck(workload, changedAt)
        ? { state: "held", reason: heldBy }
        : failing;
  }
  const changedIn = Math.floor(changedAt / 1000);
  const stored = storedRolloutAt(workload, now);
  const written = templateWrittenAt(workload, now);
  const isLater = (apiTime: number) => apiTime / 1000 > changedIn;
  const isAfterSeen = writtenAt >= (seenAt ?? changedAt + 1_000);
  // A template that another client wrote in the second of the change was most likely applied with it.
  const isWritten = written > stored && written / 1000 >= changedIn;
  if (facts.isForOthers && !isWritten && !facts.rejected) return undefined;
  const isNewer = isLater(stored) || isAfterSeen || facts.rolledInItsSecond === true || isWritten;
  const hasPassed: Stage | undefined = isNewer ? { state: "passed" } : undefined;
  const rolledAt = Math.max(written, writtenAt);
  if (resumedAfter(facts.resumed, rolledAt, now)) return undefined;
  if (progress.state === "idle") return idle(workload);
  if (facts.reverted && isNewer) return unusable("another client removed its hash");
  const failed = { state: "failed", rolledAt, wasComplete: true } as const;
  if (facts.rejected) return failed;
  if (facts.soaked && written <= stored) return hasPassed;
  // The mark is of the last rollout by Wave.
  const isUsable = isNewer
    ? isWritten || !hasMark(workload)
    : canCheck(workload, changedAt) || isRolledByWave(workload);
  if (newPods?.state === "exited") {
    const { pod, container, exitCode } = newPods;
    return isUsable ? { ...failed, exit: { pod, container, exitCode } } : failing;
  }
  if (newPods?.state === "restarts") return isUsable ? failed : failing;
  // Without a readiness probe, a Pod is available when its container starts, which is before the check ends.
  const complete = completeOf(progress, isNewer);
  if (complete !== undefined && newPods?.state !== "unread") {
    const stage = soak(complete, rolledAt, completeSince, flags, now);
    return stage.state === "passed" ? hasPassed : stage;
  }
  if (!isNewer && hasLostPods(workload) && newPods?.state !== "unread") return undefined;
  if (newPods?.state === "stuck") return unusable(`it is stuck (${newPods.reason})`);
  if (!isUsable) return failing;
  const lastProgress = Math.max(rolledAt, facts.advancedAt ?? 0);
  const until =
    progress.state === "complete" ? now + 10_000 : rolloutDeadline(progress, lastProgress, flags, now, newPods);
  return now < until ? { state: "progressing", until, wasComplete: true } : failed;
}

/** Returns how a rollout is complete; undefined if it is not. An edit that the status does not show yet may be a newer rollout, but no older one. */
function completeOf(
  progress: Progress,
  isNewer: boolean,
): Extract<Progress, { readonly state: "complete" }> | undefined {
  if (progress.state === "complete") return progress;
  const wasComplete = progress.state === "progressing" && progress.wasComplete === true;
  return wasComplete && !isNewer ? { state: "complete", since: undefined } : undefined;
}

/** Why a validator cannot be rolled, as clauses for people. */
export const blockedBy = {
  missing: "it waits for a missing object",
  refused: "the API server refused to roll it",
} as const;

/** Why a validator that was broken before cannot check a change. */
export const failingBefore = "it was failing before the change";

const failing: Stage = { state: "unusable", why: failingBefore };

function idle({ replicas }: Workload): Stage {
  return { state: "unusable", why: replicas === 0 ? "it is scaled to 0" : "it is paused" };
}
