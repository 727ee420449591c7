import { admitBatch, type BatchedChange, type BatchMember } from "../../domain/pacing/batches.ts";
import type { PacingFlags } from "../../domain/policy/pacing-flags.ts";

/** At most this number of batches is computed; later workloads have no number. */
const mostBatches = 200;

/**
 * Returns the batch number, from 1, of each due workload of a group, if all earlier batches complete in time. Halted workloads have no
 * number. The numbers come from admitting batch after batch.
 */
export function batchNumbers(group: BatchedChange, flags: PacingFlags): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  let members: readonly BatchMember[] = group.members;
  for (let number = 1; number <= mostBatches; ) {
    const { admitted } = admitBatch({ ...group, members }, flags);
    const before = members;
    members = members.map((member) =>
      admitted.has(member.key) || isUnderWay(member) ? { ...member, stage: passed } : member,
    );
    for (const key of admitted) numbers.set(key, number);
    if (admitted.size > 0) number++;
    else if (before.every((member, index) => member === members[index])) break;
  }
  return numbers;
}

const passed = { state: "passed" } as const;

function isUnderWay({ stage }: BatchMember): boolean {
  return stage.state === "progressing" || stage.state === "soaking";
}
