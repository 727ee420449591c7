// Whether the rollout of a workload can show that a change is bad: only if the workload was complete before.
import type { Workload } from "../model/workload.ts";
import type { IncompleteRollout } from "../outcomes/outcomes.ts";
import { lastRolloutAt } from "./interval.ts";
import type { Moment } from "./moment.ts";
import { digitsOf } from "./requested-holds.ts";

/**
 * Returns the mark of a workload that is rolled to a hash while it is not complete: digits of the hash, and the time of
 * {@link IncompleteRollout.completeBefore}. A later hash makes the mark invalid.
 */
export function incompleteMark(hash: string, { completeBefore }: Partial<IncompleteRollout> = {}): string {
  const digits = digitsOf(hash).slice(0, 16);
  return completeBefore === undefined ? digits : `${digits} ${Math.floor(completeBefore)}`;
}

type Marked = Pick<Workload, "recordedHash" | "rolledIncomplete">;

/** Reports whether a workload was complete before its first rollout that includes a change. `includes` reports whether a rollout at a time does. */
export function wasComplete(workload: Marked, includes: (rolledAt: number) => boolean): boolean {
  const mark = markOf(workload);
  return mark === undefined || (mark.completeBefore !== undefined && includes(mark.completeBefore));
}

/** Returns what to record if a workload that is not complete is rolled now. */
export function incompleteRollout(
  workload: Marked & Pick<Workload, "rolledAt">,
  moment: Moment,
  soakMs: number,
): IncompleteRollout {
  const succeeded = (moment.completeMs ?? 0) >= Math.max(1, soakMs);
  if (succeeded || workload.recordedHash === undefined) return { completeBefore: undefined };
  return markOf(workload) ?? { completeBefore: lastRolloutAt(workload, moment) };
}

/** Returns the mark of the recorded hash; undefined if the workload was complete when it was rolled to this hash. */
function markOf({ recordedHash, rolledIncomplete }: Marked): IncompleteRollout | undefined {
  if (recordedHash === undefined || rolledIncomplete === undefined) return undefined;
  const [digits, at = ""] = rolledIncomplete.split(" ");
  if (digits !== incompleteMark(recordedHash)) return undefined;
  return { completeBefore: /^\d{1,15}$/.test(at) ? Number(at) : undefined };
}
