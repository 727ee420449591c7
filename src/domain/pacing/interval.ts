import type { Workload } from "../model/workload.ts";
import type { Hold } from "../outcomes/outcomes.ts";
import type { Warning } from "../references/warning.ts";
import { formatDuration } from "../syntax/time.ts";
import type { DueWrite } from "./due.ts";
import { holdTexts } from "./hold-texts.ts";
import type { Moment } from "./moment.ts";
import { rolloutResult } from "./rollout-result.ts";
import { lastRolloutAt } from "./rollout-time.ts";

/** The wait of the second consecutive rollout, in milliseconds. It doubles with each further rollout, up to the longest wait. */
const firstWaitMs = 10_000;
const longestWaitMs = 3_600_000;

/** The time without a rollout that ends a series of consecutive rollouts, at least. */
const leastQuietMs = 600_000;

/** From this number of consecutive rollouts on, a person must find out who keeps changing the configuration. */
const flapsFrom = 7;

/** The highest number that is recorded: the wait no longer grows. */
const maxConsecutiveRollouts = 99;

/** Returns the wait after this number of consecutive rollouts, in milliseconds. */
export function waitAfter(consecutiveRollouts: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (consecutiveRollouts - 1));
}

/**
 * Returns the time without a rollout that ends a series of so many consecutive rollouts, in milliseconds. It is longer than the wait, or each
 * wait would end the series. For a short series it is short: edits of a person, half an hour apart, are no series.
 */
function quietAfter(consecutiveRollouts: number): number {
  return Math.max(leastQuietMs, 2 * waitAfter(consecutiveRollouts));
}

/** Reports whether the configuration of a workload keeps changing: many consecutive rollouts, and no quiet period since. */
export function isFlapping(
  workload: Pick<Workload, "rolledAt" | "consecutiveRollouts">,
  moment: Pick<Moment, "now" | "lastWrite">,
): boolean {
  const count = lastConsecutiveRollouts(workload, moment);
  const last = lastRolloutAt(workload, moment);
  return count >= flapsFrom && last !== undefined && moment.now - last < quietAfter(count);
}

/**
 * Returns the warning about a held rollout if the configuration keeps changing, also while an edit settles: otherwise the Event would be written again after
 * each edit. `why` names what changed and who edited it.
 */
export function flapWarnings({ workload, moment, flags }: DueWrite, why: string): readonly Warning[] {
  if (flags.settleMs === 0 || !isFlapping(workload, moment)) return [];
  return [{ reason: "ConfigurationFlaps", message: flapText(why, longestWaitMs) }];
}

/** The text about configuration that keeps changing. */
export const flapText = (why: string, mostMs: number) =>
  `Configuration keeps changing: ${why}. The time between two rollouts doubles up to ${formatDuration(mostMs)}. Find the client that keeps editing the object, or stop tracking the key.`;

/** Returns the number of the next rollout in its series. Only a quiet period ends a series, so the stored state is sufficient. */
export function nextConsecutiveRollouts(
  workload: Pick<Workload, "rolledAt" | "consecutiveRollouts">,
  moment: Moment,
): number {
  const last = lastRolloutAt(workload, moment);
  const count = lastConsecutiveRollouts(workload, moment);
  if (last === undefined || moment.now - last >= quietAfter(count)) return 1;
  return Math.min(maxConsecutiveRollouts, count + 1);
}

/**
 * Holds a rollout that follows the previous one too soon, for consecutive rollouts or for `min-interval`. A failed rollout does not hold its
 * fix: each failure takes long enough to limit the rate of rollouts.
 */
export function interval({ workload, policy, flags, moment }: DueWrite): Hold | undefined {
  const last = lastRolloutAt(workload, moment);
  if (last === undefined) return undefined;
  const consecutiveMs = flags.settleMs === 0 ? 0 : waitAfter(lastConsecutiveRollouts(workload, moment));
  const waitMs = Math.max(consecutiveMs, policy.minIntervalMs.value);
  const until = last + waitMs;
  // The clock of the API server may be ahead. Without a wait, that is no reason to hold.
  if (waitMs === 0 || moment.now >= until) return undefined;
  // A validator may fail in a second.
  const isQuick = moment.newPods?.state === "exited" && isFlapping(workload, moment);
  if (!isQuick && rolloutResult(workload, flags, moment)?.state === "failed") return undefined;
  const setBy = policy.minIntervalMs.value >= waitMs ? "min-interval" : "consecutive rollouts";
  return { reason: "interval", message: holdTexts.interval(waitMs, setBy), until, warning: false };
}

/**
 * Returns the number of the last rollout in its series. At least the number that this process wrote, whatever the
 * annotation has. The annotation may be higher: for a write of another leader, or a write of this process without a response.
 */
function lastConsecutiveRollouts(
  { consecutiveRollouts }: Pick<Workload, "consecutiveRollouts">,
  { lastWrite }: Pick<Moment, "lastWrite">,
): number {
  const stored =
    consecutiveRollouts !== undefined && /^[1-9]\d?$/.test(consecutiveRollouts) ? Number(consecutiveRollouts) : 1;
  return Math.max(stored, lastWrite?.consecutiveRollouts ?? 1);
}
