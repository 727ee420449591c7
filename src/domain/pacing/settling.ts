import type { Hold } from "../decision/hold.ts";
import { formatDuration } from "../syntax/duration.ts";
import type { Due } from "./due.ts";

/**
 * What it reads has changed less than its settle time ago: more may follow, as of ten objects that are applied together, or
 * the edit be taken back. However often they change, the first change is rolled for within a bound.
 */
export function settling({ policy, moment }: Due): Hold | undefined {
  const { changes, now } = moment;
  const settleMs = policy.settleMs.value;
  if (changes === undefined || settleMs === 0) return undefined;
  const until = Math.min(changes.last + settleMs, changes.first + Math.max(settleMs, policy.settleMaxMs));
  if (now >= until) return undefined;
  return {
    reason: "settling",
    message: `what it reads has just changed: it follows ${formatDuration(settleMs)} after the last change, ${formatDuration(policy.settleMaxMs)} after the first at the latest`,
    until,
    warning: false,
  };
}
