import type { Workload } from "../model/workload.ts";
import type { Moment } from "./moment.ts";

/** How far the clock of the API server may be ahead of this one. A later time of a rollout is forged and ignored. */
const clocksDifferMs = 600_000;

/** How far the clock of a person who resumes may be ahead of this one. */
const clocksOfPeopleDifferMs = 60_000;

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

/** Reports whether a person resumed the workload at a time or later. A time in the future is ignored: it would apply forever. */
export function resumedSince(resumed: number | undefined, time: number, now: number): boolean {
  return resumed !== undefined && resumed >= time && resumed <= now + clocksOfPeopleDifferMs;
}
