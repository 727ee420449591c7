import type { Hold } from "../outcomes/hold.ts";
import type { DueWrite } from "./due.ts";
import { holdTexts } from "./hold-texts.ts";
import { lastRolloutAt } from "./interval.ts";

/**
 * The time without a new available Pod after which a rollout is stalled, in milliseconds. So a correct edit waits at most this
 * long for a rollout that a bad edit broke. A slow rollout may be taken as stalled and is then rolled again: the latest
 * configuration is right either way.
 */
const stalledMs = 30_000;

/** Holds a rollout while the previous rollout is in progress. */
export function progressing({ workload, decision, flags, moment }: DueWrite): Hold | undefined {
  const last = lastRolloutAt(workload, moment);
  if (decision.outcome !== "roll" || last === undefined || flags.settleMs === 0) return undefined;
  if (workload.progress.state !== "progressing") return undefined;
  const until = Math.min(moment.progressSince + stalledMs, last + flags.rolloutTimeoutMs);
  if (moment.now >= until) return undefined;
  return { reason: "progressing", message: holdTexts.progressing(stalledMs), until, warning: false };
}
