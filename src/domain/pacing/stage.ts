import type { Workload } from "../model/workload.ts";
import type { PacingFlags } from "../policy/pacing-flags.ts";
import { storedRollAt } from "./interval.ts";

/** How far one workload is with one change of an object that it reads. Times are milliseconds since the epoch. */
export type Stage =
  /** Something is to be written, and nothing but the wave holds it. At `resumedAt` a person said that it may go on. */
  | { readonly state: "due"; readonly resumedAt: number | undefined }
  /** As due, but the wave of another change holds it: nobody here waits for it. */
  | { readonly state: "heldElsewhere" }
  /** It is being rolled, and has failed where it still is at `until`, which may be never. */
  | { readonly state: "underWay"; readonly until: number }
  /** Complete, but not for long enough before `until`. */
  | { readonly state: "soaking"; readonly until: number }
  | { readonly state: "passed" }
  | { readonly state: "failed"; readonly rolledAt: number };

/** What a {@link Stage} is derived from. Times are milliseconds since the epoch. */
export interface StageFacts {
  readonly workload: Pick<Workload, "rolledAt" | "progress">;
  /** Whether its plan is due because of this object, and held by nothing but waves. */
  readonly due: boolean;
  /** Whether its plan is due because of this object, and held by something else: its Pods do not show this change. */
  readonly behind?: boolean;
  /** When the object changed, to the second, as the API tells it; when it was seen to be gone, where it is. */
  readonly changedAt: number;
  /** When this process saw it change, or began to write if it was so already; undefined where that is not known any more. */
  readonly seenAt?: number | undefined;
  /** When this process wrote the workload last, or began to; undefined where it did not. */
  readonly writtenAt: number | undefined;
  /** Whether somebody took away the hash that was written last, so that its Pods are not those of the change. */
  readonly reverted?: boolean;
  /** When this process first saw its rollout complete; undefined where it has only just looked. */
  readonly completeSince: number | undefined;
  /** Whether it was complete for long enough since that roll, though it may not be now: Pods come and go. */
  readonly soaked?: boolean;
  /** What the annotation `resumed` says; undefined where it says nothing. */
  readonly resumed: number | undefined;
}

/** How far the clock of a person who resumes may be ahead of this one. */
const clocksDifferMs = 60_000;

/**
 * How far a workload is with the last change of an object. Undefined where the change does not concern it: it was not
 * rolled since and need not be, or a roll replaces no Pod of it. All of it follows from the API, except when a rollout
 * was completed where no status tells that.
 *
 * Times of the API are whole seconds. So a roll in the same second as the change may have been for it or not; only the
 * process that saw both knows. For all others it was not, or the workload would be a canary that never saw the change.
 */
export function stageOf(facts: StageFacts, flags: PacingFlags, now: number): Stage | undefined {
  const { workload, due, changedAt, seenAt, writtenAt = 0, completeSince = now } = facts;
  const { progress } = workload;
  if (progress.state === "idle") return undefined;
  if (due) return { state: "due", resumedAt: resumedSince(facts, changedAt, now) ? facts.resumed : undefined };
  // What was on its way when the object changed came later than the change, and was for the state before.
  if (facts.behind) return undefined;
  const stored = storedRollAt(workload, now);
  const isRolled = stored / 1000 > Math.floor(changedAt / 1000) || writtenAt >= (seenAt ?? changedAt + 1_000);
  if (!isRolled) return undefined;
  const rolledAt = Math.max(stored, writtenAt);
  if (progress.state === "complete") {
    if (facts.reverted) return undefined;
    const told = progress.since === undefined ? completeSince : progress.since * 1000;
    // Where the API server's clock is ahead of this one, others would wait for as long: this process saw when it was complete.
    const since = Math.max(rolledAt, told) > now ? completeSince : Math.max(rolledAt, told);
    const until = since + flags.soakMs;
    return until <= now ? { state: "passed" } : { state: "soaking", until };
  }
  if (facts.soaked) return { state: "passed" };
  const isSelfTimed = progress.state === "progressing" && progress.selfTimed === true;
  const until = isSelfTimed ? Number.POSITIVE_INFINITY : rolledAt + flags.rolloutTimeoutMs;
  if (progress.state === "progressing" && now < until) return { state: "underWay", until };
  return resumedSince(facts, rolledAt, now) ? undefined : { state: "failed", rolledAt };
}

/** Whether a person resumed it at that time or later. A time in the future resumes nothing: it would do so for ever. */
function resumedSince({ resumed }: StageFacts, time: number, now: number): boolean {
  return resumed !== undefined && resumed >= time && resumed <= now + clocksDifferMs;
}
