import { formatDuration } from "../duration.ts";
import type { Due } from "./due.ts";
import type { Hold, HoldReason } from "./hold.ts";

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

/** What is asked before it, so that nobody knows yet whether changes have settled. */
const notLater: readonly HoldReason[] = ["observed", "invalid", "hold", "approval", "window", "settling"];

/**
 * Whether the changes for which a write is due have settled, so that they are to be forgotten, though it may be held for
 * something else: those that follow settle by themselves.
 */
export function hasSettled(hold: Hold | undefined): boolean {
  return hold === undefined || !notLater.includes(hold.reason);
}
