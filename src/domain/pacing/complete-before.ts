// Whether the rollout of a workload can show that a change is bad: only if the workload was complete before.
import type { Workload } from "../model/workload.ts";
import type { IncompleteRollout } from "../outcomes/outcomes.ts";
import { hasSoaked } from "./has-soaked.ts";
import type { Moment } from "./moment.ts";
import { storedRolloutAt } from "./rollout-time.ts";

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
