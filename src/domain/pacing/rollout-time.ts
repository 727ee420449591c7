import { templateEditAt, type Workload } from "../model/workload-shape.ts";
import type { IncompleteRollout } from "../outcomes/outcomes.ts";
import type { Moment } from "./moment.ts";

/** How far the clock of the API server may be ahead of this one. A later time of a rollout is forged and ignored. */
const clocksDifferMs = 600_000;

/**
 * How far the time of a request may be ahead of this clock. `wave resume` and `wave roll` write the time of the API server, people may write another.
 * A later request would apply to failures and changes that its author has not seen.
 */
export const requestsAheadMs = 60_000;

/** Returns the time of the last rollout by the API, milliseconds since the epoch; 0 if there was none. */
export function storedRolloutAt({ rolledAt }: Pick<Workload, "rolledAt">, now: number): number {
  return rolledAt * 1000 > now + clocksDifferMs ? 0 : rolledAt * 1000;
}

/** Returns the time of the last rollout, milliseconds since the epoch; undefined if there was none. */
export function lastRolloutAt(
  workload: Pick<Workload, "rolledAt">,
  { now, lastWrite }: Pick<Moment, "now" | "lastWrite">,
): number | undefined {
  const last = Math.max(storedRolloutAt(workload, now), lastWrite?.at ?? 0);
  return last > 0 ? last : undefined;
}

/** Reports whether another field manager changed the pod template after the last rollout by Wave. */
export function isEditedSinceRollout(
  workload: Pick<Workload, "rolledAt" | "templateEditedAt" | "templateWrite">,
): boolean {
  return templateEditAt(workload) > workload.rolledAt;
}

/** Reports whether a person resumed the workload at a time or later. A time in the future is ignored: it would apply forever. */
export function resumedSince(resumed: number | undefined, time: number, now: number): boolean {
  return resumed !== undefined && resumed >= time && resumed <= now + requestsAheadMs;
}

/** Reports whether a person resumed the workload in a second after that of a rollout. */
export function resumedAfter(resumed: number | undefined, rolledAt: number, now: number): boolean {
  return resumedSince(resumed, secondAfter(rolledAt), now);
}

/**
 * Returns the first time that is surely later than a rollout, in milliseconds since the epoch: times of the API are whole seconds. A person can
 * resume again, but a halt that is lost rolls every other workload.
 */
export function secondAfter(rolledAt: number): number {
  return (Math.floor(rolledAt / 1000) + 1) * 1000;
}

/**
 * Returns the mark of a workload that is rolled while it is not complete: the time of {@link IncompleteRollout.completeBefore}, or "never".
 * The mark is of the last rollout by Wave, whatever hash the pod template has: others may remove the hash, or a webhook may write another.
 */
export function incompleteMark({ completeBefore }: IncompleteRollout): string {
  return completeBefore === undefined ? "never" : `${Math.floor(completeBefore)}`;
}

type Marked = Pick<Workload, "rolledIncomplete">;

/**
 * Reports whether a workload was complete before its first rollout that includes a change. `includes` reports whether a rollout at a time of
 * the API does.
 */
export function wasComplete(workload: Marked, includes: (rolledAt: number) => boolean): boolean {
  const mark = markOf(workload);
  return mark === undefined || (mark.completeBefore !== undefined && includes(mark.completeBefore));
}

/** Reports whether a workload was not complete before its last rollout by Wave. */
export function hasMark(workload: Marked): boolean {
  return workload.rolledIncomplete !== undefined;
}

/** Returns what to record if a workload that is not complete is rolled now. */
export function incompleteRollout(
  workload: Marked & Pick<Workload, "recordedHash" | "rolledAt">,
  moment: Moment,
  soakMs: number,
): IncompleteRollout {
  if (hasSoaked(moment.completeMs ?? 0, soakMs) || workload.recordedHash === undefined)
    return { completeBefore: undefined };
  // The time of the API: the process that compares it may have another clock.
  const rolledAt = storedRolloutAt(workload, moment.now);
  return markOf(workload) ?? { completeBefore: rolledAt > 0 ? rolledAt : undefined };
}

/** Returns the mark of the last rollout; undefined if the workload was complete before it. */
function markOf({ rolledIncomplete }: Marked): IncompleteRollout | undefined {
  if (rolledIncomplete === undefined) return undefined;
  return { completeBefore: /^\d{1,15}$/.test(rolledIncomplete) ? Number(rolledIncomplete) : undefined };
}

/** Reports whether a rollout has passed that was complete for `completeMs` milliseconds. Without a soak time, it was complete at all. */
export function hasSoaked(completeMs: number, soakMs: number): boolean {
  return completeMs >= Math.max(1, soakMs);
}
