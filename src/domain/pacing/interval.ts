import type { Hold } from "../decision/hold.ts";
import type { Workload } from "../model/workload.ts";
import { formatDuration } from "../syntax/duration.ts";
import type { Due } from "./due.ts";
import type { Moment } from "./moment.ts";

/** How long the second roll in a row waits after the first; each that follows twice as long, up to the longest. */
const firstWaitMs = 10_000;
const longestWaitMs = 300_000;

/** How long after a roll there must be none so that the next is not in a row with it. Longer than the longest wait. */
const quietMs = 600_000;

/** A longer row is not counted: it waits no longer. */
const longestStreak = 99;

/** How far the clock of the API server may be ahead of this one. A later roll is none: somebody wrote that time himself. */
const clocksDifferMs = 600_000;

/** How long to wait after the roll that has this place in a row. */
export function waitAfter(streak: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (streak - 1));
}

/** When the API tells that it was rolled, milliseconds since the epoch; 0 where it was not. */
export function storedRollAt({ rolledAt }: Pick<Workload, "rolledAt">, now: number): number {
  return rolledAt * 1000 > now + clocksDifferMs ? 0 : rolledAt * 1000;
}

/** When the workload was last rolled, milliseconds since the epoch; undefined where it never was. */
export function lastRollAt(workload: Pick<Workload, "rolledAt">, { now, written }: Moment): number | undefined {
  const last = Math.max(storedRollAt(workload, now), written?.at ?? 0);
  return last > 0 ? last : undefined;
}

/** Its place in a row of rolls that the next one has. Only a quiet time ends a row, so nothing but the API need be asked. */
export function nextStreak(workload: Pick<Workload, "rolledAt" | "streak">, moment: Moment): number {
  const last = lastRollAt(workload, moment);
  if (last === undefined || moment.now - last >= quietMs) return 1;
  return Math.min(longestStreak, lastStreak(workload, moment) + 1);
}

/** It was rolled too short a time ago, for its row of rolls or for the interval that somebody asks for. */
export function interval({ workload, policy, flags, moment }: Due): Hold | undefined {
  const last = lastRollAt(workload, moment);
  if (last === undefined) return undefined;
  const flapping = flags.settleMs === 0 ? 0 : waitAfter(lastStreak(workload, moment));
  const waitMs = Math.max(flapping, policy.minIntervalMs.value);
  const until = last + waitMs;
  // The clock of the API server may be ahead: where nothing is to be waited for, that is no reason to wait.
  if (waitMs === 0 || moment.now >= until) return undefined;
  const why = policy.minIntervalMs.value >= waitMs ? "by min-interval" : "longer with each roll in a row";
  return {
    reason: "interval",
    message: `it was rolled less than ${formatDuration(waitMs)} ago, which is how long the next one waits, ${why}`,
    until,
    warning: false,
  };
}

/**
 * What this process knows to have written counts at least, whoever edits the annotation. That may count more: of another
 * leader's write, or of one of this process whose answer was lost.
 */
function lastStreak({ streak }: Pick<Workload, "streak">, { written }: Moment): number {
  const stored = streak !== undefined && /^[1-9]\d?$/.test(streak) ? Number(streak) : 1;
  return Math.max(stored, written?.streak ?? 1);
}
