import type { Workload } from "../model/workload.ts";
import type { Hold } from "../outcomes/hold.ts";
import type { DueWrite } from "./due.ts";
import { holdTexts } from "./hold-texts.ts";
import type { Moment } from "./moment.ts";

/** The wait of the second consecutive rollout, in milliseconds. It doubles with each further rollout, up to the longest wait. */
const firstWaitMs = 10_000;
const longestWaitMs = 300_000;

/** The time without a rollout that ends a series of consecutive rollouts. It is longer than the longest wait. */
const quietMs = 600_000;

/** The highest number that is recorded: the wait no longer grows. */
const maxConsecutiveRollouts = 99;

/** How far the clock of the API server may be ahead of this one. A later time of a rollout is forged and ignored. */
const clocksDifferMs = 600_000;

/** Returns the wait after this number of consecutive rollouts, in milliseconds. */
export function waitAfter(consecutiveRollouts: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (consecutiveRollouts - 1));
}

/** Returns the time of the last rollout by the API, milliseconds since the epoch; 0 if there was none. */
export function storedRolloutAt({ rolledAt }: Pick<Workload, "rolledAt">, now: number): number {
  return rolledAt * 1000 > now + clocksDifferMs ? 0 : rolledAt * 1000;
}

/** Returns the time of the last rollout, milliseconds since the epoch; undefined if there was none. */
export function lastRolloutAt(workload: Pick<Workload, "rolledAt">, { now, lastWrite }: Moment): number | undefined {
  const last = Math.max(storedRolloutAt(workload, now), lastWrite?.at ?? 0);
  return last > 0 ? last : undefined;
}

/** Returns the number of the next rollout in its series. Only a quiet period ends a series, so the stored state is sufficient. */
export function nextConsecutiveRollouts(
  workload: Pick<Workload, "rolledAt" | "consecutiveRollouts">,
  moment: Moment,
): number {
  const last = lastRolloutAt(workload, moment);
  if (last === undefined || moment.now - last >= quietMs) return 1;
  return Math.min(maxConsecutiveRollouts, lastConsecutiveRollouts(workload, moment) + 1);
}

/** Holds a rollout that follows the previous one too soon, for consecutive rollouts or for `min-interval`. */
export function interval({ workload, policy, flags, moment }: DueWrite): Hold | undefined {
  const last = lastRolloutAt(workload, moment);
  if (last === undefined) return undefined;
  const consecutiveMs = flags.settleMs === 0 ? 0 : waitAfter(lastConsecutiveRollouts(workload, moment));
  const waitMs = Math.max(consecutiveMs, policy.minIntervalMs.value);
  const until = last + waitMs;
  // The clock of the API server may be ahead. Without a wait, that is no reason to hold.
  if (waitMs === 0 || moment.now >= until) return undefined;
  const setBy = policy.minIntervalMs.value >= waitMs ? "min-interval" : "consecutive rollouts";
  return { reason: "interval", message: holdTexts.interval(waitMs, setBy), until, warning: false };
}

/**
 * Returns the number of the last rollout in its series. At least the number that this process wrote, whatever the
 * annotation has. The annotation may be higher: for a write of another leader, or a write of this process without a response.
 */
function lastConsecutiveRollouts(
  { consecutiveRollouts }: Pick<Workload, "consecutiveRollouts">,
  { lastWrite }: Moment,
): number {
  const stored =
    consecutiveRollouts !== undefined && /^[1-9]\d?$/.test(consecutiveRollouts) ? Number(consecutiveRollouts) : 1;
  return Math.max(stored, lastWrite?.consecutiveRollouts ?? 1);
}
