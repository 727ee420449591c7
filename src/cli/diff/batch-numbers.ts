import { type BatchedChange, type BatchMember, admitBatch } from "../../domain/pacing/batches.ts";
import type { PacingFlags } from "../../domain/policy/pacing-flags.ts";

/** As many waves are counted; who would go later has no number. */
const mostBatches = 200;

/**
 * In which wave each of a group goes that is due, from 1, if every one before it is complete in its time; none for those that are
 * halted. Found by asking who may start, again and again.
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
  return stage.state === "underWay" || stage.state === "soaking";
}
