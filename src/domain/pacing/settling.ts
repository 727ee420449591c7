import type { Hold } from "../outcomes/outcomes.ts";
import type { DueWrite } from "./due.ts";
import { holdTexts } from "./hold-texts.ts";

/**
 * Holds a write until the configuration has not changed for the settle time: more changes may follow, for example of objects
 * that are applied together, or the edit may be reverted. However often objects change, the wait after the first change is
 * at most ten times as long.
 */
export function settling({ policy, moment }: DueWrite): Hold | undefined {
  const { changes, now } = moment;
  const settleMs = policy.settleMs.value;
  if (changes === undefined || settleMs === 0) return undefined;
  const maxMs = 10 * settleMs;
  const until = Math.min(changes.last + settleMs, changes.first + maxMs);
  if (now >= until) return undefined;
  return { reason: "settling", message: holdTexts.settling(settleMs, maxMs), until, warning: false };
}
