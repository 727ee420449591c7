import { isComplete, type Progress } from "../model/kind-row.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { HoldReason } from "../outcomes/outcomes.ts";
import type { NewPods } from "../pods/new-pods.ts";
import type { ContainerExit } from "../pods/observed-pod.ts";
import type { PacingFlags } from "../policy/policy.ts";
import type { AwaitedContent } from "./awaited-content.ts";
import { rolloutDeadline } from "./rollout-result.ts";
import { resumedAfter, resumedSince, storedRolloutAt, wasComplete } from "./rollout-time.ts";

/** The progress of one workload for one change of an object that it reads. Times are milliseconds since the epoch. */
export type Stage =
  /** A write is due and only batches hold it. `resumedAt`: when a person resumed the workload. */
  | ({ readonly state: "due"; readonly resumedAt: number | undefined } & CompleteBefore)
  /** As "due", but the batches of another change hold it. The other members do not wait for it. */
  | { readonly state: "heldElsewhere" }
  /** The rollout is in progress. It has failed if it is still in progress at `until`, which may be never. */
  | ({ readonly state: "progressing"; readonly until: number } & CompleteBefore)
  /**
   * The rollout is in progress, and a Pod does not start for a reason outside of its configuration. Others wait until `until`, which may be
   * never; undefined: they do not wait any more. `reason` is a word of Kubernetes.
   */
  | ({ readonly state: "stuck"; readonly until: number | undefined; readonly reason: string } & CompleteBefore)
  /** The rollout is complete, and must stay complete until `until`. */
  | { readonly state: "soaking"; readonly until: number }
  | { readonly state: "passed" }
  | ({
      readonly state: "failed";
      readonly rolledAt: number;
      /** One such failure halts the change, also after the canary has passed. */
      readonly halts?: true;
      /** The container of a validator that exited. */
      readonly exit?: ContainerExit;
    } & CompleteBefore)
  /** Only of a validator: a write is due, and a hold that ends delays it. */
  | { readonly state: "held"; readonly reason: HoldReason }
  /** Only of a validator: it cannot check the change. `why` is a clause for people. */
  | { readonly state: "unusable"; readonly why: string };

interface CompleteBefore {
  /** Whether the workload is complete before the rollout. Otherwise its failure does not show that the change is bad. */
  readonly wasComplete: boolean;
}

/** The facts that determine a {@link Stage}. Times are milliseconds since the epoch. */
export interface StageFacts {
  readonly workload: Pick<Workload, "rolledAt" | "progress" | "rolledIncomplete">;
  /** Whether a write is due because of this object, and only batches hold it. */
  readonly due: boolean;
  /** Whether a write is due because of this object, and another hold applies: the Pods do not read this change yet. */
  readonly isDueForIt?: boolean;
  /** Whether the change was rolled back: the Pods read the content before it, and Wave does not roll to it again. */
  readonly rejected?: boolean;
  /** When the object changed, by the API, in whole seconds. If it is deleted: when this process saw that. */
  readonly changedAt: number;
  /** When this process saw the change, or started if the change is older; undefined if this is no longer known. */
  readonly seenAt?: number | undefined;
  /** When this process last wrote the workload, or started the write; undefined if it did not. */
  readonly writtenAt: number | undefined;
  /** Whether it rolled in the second of the change, and is known to have rolled after it. Default: not known. */
  readonly rolledInItsSecond?: boolean;
  /** Whether another client removed the last written hash, so that the Pods do not show the change. */
  readonly reverted?: boolean;
  /** When this process first saw the rollout complete; undefined if it has not seen it before. */
  readonly completeSince: number | undefined;
  /** Whether the rollout was complete for the soak time, even if it is not complete now: Pods may restart later. */
  readonly soaked?: boolean;
  /** Whether all rollouts since one that passed are known to be for changes of other objects. They show nothing about this change. */
  readonly isForOthers?: boolean;
  /** When the rollout last made progress: more Pods than before were replaced or available. Undefined: not known. */
  readonly advancedAt?: number | undefined;
  /** What its new Pods show. Default: not known. */
  readonly newPods?: NewPods | undefined;
  /** Whether an alert began to fire during the rollout or its soak. Default: no. */
  readonly failedAlert?: boolean;
  /** Whether the object is a Secret. Others do not wait for ever to read a new one: the old credential may be gone. */
  readonly isSecret?: boolean;
  /**
   * Returns whether its last rollout, which began at this time, was with the content that other workloads are due for, whatever the time of the
   * change is; undefined if that is not known. Default: not known.
   */
  readonly awaited?: ((startedAt: number) => AwaitedContent | undefined) | undefined;
  /** The time in the annotation `resumed`; undefined without the annotation. */
  readonly resumed: number | undefined;
}

/**
 * Returns the stage of a rollout that is complete: it passes when it has been complete for the soak time. `completeSince`: when this process
 * first saw it complete.
 */
export function soak(
  { since: reported }: Extract<Progress, { readonly state: "complete" }>,
  rolledAt: number,
  completeSince: number,
  { soakMs }: PacingFlags,
  now: number,
): Stage {
  const last = Math.max(rolledAt, reported === undefined ? completeSince : reported * 1000);
  // If the clock of the API server is ahead, the others would wait too long. Then the observed time is used.
  const until = (last > now ? completeSince : last) + soakMs;
  return until <= now ? { state: "passed" } : { state: "soaking", until };
}

/**
 * Returns the stage of a workload for the last change of an object. Undefined if the change does not concern the workload: it
 * was not rolled since and need not be, was rolled for other objects only, or a rollout would replace no Pod. The API has all facts, except
 * for which objects a rollout was, and when it completed if its status does not contain that time.
 *
 * Times of the API are whole seconds. So a rollout in the second of the change may or may not include the change; only the
 * process that wrote it, or a later plan, shows it. Otherwise it is taken as not including the change: the workload would be a canary without it.
 * A process that did not see the change may have a later time of it, such as that of a label. Then the content shows it.
 */
export function stageOf(facts: StageFacts, flags: PacingFlags, now: number): Stage | undefined {
  const { workload, due, changedAt, seenAt, writtenAt = 0, completeSince = now } = facts;
  const { progress } = workload;
  if (progress.state === "idle") return undefined;
  if (due) {
    const resumedAt = resumedSince(facts.resumed, changedAt, now) ? facts.resumed : undefined;
    return { state: "due", resumedAt, wasComplete: isComplete(workload) };
  }
  // The write was in progress when the object changed: it finished after the change, but has the state before it.
  if (facts.isDueForIt) return undefined;
  const stored = storedRolloutAt(workload, now);
  const rolledAt = Math.max(stored, writtenAt);
  // A person has seen the failure, or expects it. From then on the rollout shows nothing, until it is complete.
  const isResumed = resumedAfter(facts.resumed, rolledAt, now);
  if (facts.rejected) return isResumed ? undefined : { state: "failed", rolledAt, wasComplete: true };
  if (facts.isForOthers) return undefined;
  const isLaterTime = (apiTime: number) => apiTime / 1000 > Math.floor(changedAt / 1000);
  const isAfterSeen = (ownTime: number) => ownTime >= (seenAt ?? changedAt + 1_000);
  const isTimed = isLaterTime(stored) || isAfterSeen(writtenAt) || facts.rolledInItsSecond === true;
  const shown = isTimed ? undefined : facts.awaited?.(stored);
  if (!isTimed && shown === undefined) return undefined;
  const isLater = (apiTime: number) => isLaterTime(apiTime) || (shown !== undefined && apiTime >= shown.since);
  const before = { wasComplete: wasComplete(workload, isLater) };
  const failed = { state: "failed", rolledAt, ...before } as const;
  const { newPods } = facts;
  if (newPods?.state === "restarts" && !facts.reverted) return isResumed ? undefined : { ...failed, halts: true };
  if (facts.failedAlert && !facts.reverted && !isResumed) return { ...failed, halts: true };
  if (progress.state === "complete") {
    if (facts.reverted || shown?.isAll === false) return undefined;
    return soak(progress, rolledAt, completeSince, flags, now);
  }
  if (facts.soaked && shown?.isAll !== false) return { state: "passed" };
  if (isResumed) return undefined;
  const lastProgress = Math.max(rolledAt, facts.advancedAt ?? 0);
  if (newPods?.state === "stuck") {
    const until = facts.isSecret ? lastProgress + flags.rolloutTimeoutMs : Number.POSITIVE_INFINITY;
    return { state: "stuck", until: now < until ? until : undefined, reason: newPods.reason, ...before };
  }
  const until = rolloutDeadline(progress, lastProgress, flags, now, newPods);
  return now < until ? { state: "progressing", until, ...before } : failed;
}
