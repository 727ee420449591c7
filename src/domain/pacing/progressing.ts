import type { Hold } from "../decision/hold.ts";
import { formatDuration } from "../syntax/duration.ts";
import type { Due } from "./due.ts";
import { lastRollAt } from "./interval.ts";

/**
 * After how long without a new Pod a rollout is stuck: so long at most does a good edit wait for one that a bad edit broke.
 * One that is only slow may be taken for it, and is then rolled on: what was configured last is right either way.
 */
const stuckMs = 30_000;

/** Its last roll is still under way, so that it would begin twice at once. */
export function progressing({ workload, decision, flags, moment }: Due): Hold | undefined {
  const last = lastRollAt(workload, moment);
  if (decision.outcome !== "roll" || last === undefined || flags.settleMs === 0) return undefined;
  if (workload.progress.state !== "progressing") return undefined;
  const until = Math.min(moment.standsSince + stuckMs, last + flags.rolloutTimeoutMs);
  if (moment.now >= until) return undefined;
  return {
    reason: "progressing",
    message: `its last rollout is still under way: it follows when that is complete, fails, or makes no progress for ${formatDuration(stuckMs)}`,
    until,
    warning: false,
  };
}
