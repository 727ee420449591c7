import { admitBatch, type BatchedChange, type BatchMember } from "../../../domain/pacing/batches.ts";
import type { PacingFlags } from "../../../domain/policy/pacing-flags.ts";
import type { ConfigName } from "../../../domain/references/references.ts";

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

/** The place of a workload in the batches of a change. */
export interface BatchPlace {
  readonly object: ConfigName;
  /** The number of its batch among those that are left, from 1; null if it rolls, or if it is halted or held otherwise. */
  readonly number: number | null;
  /** The number of batches that are left. */
  readonly of: number;
  /** The workloads that are complete, of all that the change concerns. */
  readonly complete: number;
  readonly workloads: number;
}

/** Returns the place of a workload in the batches of a change. */
export function placeIn(group: BatchedChange, key: string, flags: PacingFlags): BatchPlace {
  const { object, members } = group;
  const numbers = batchNumbers(group, flags);
  const complete = members.filter(({ stage }) => stage.state === "passed").length;
  return {
    object,
    number: numbers.get(key) ?? null,
    of: Math.max(0, ...numbers.values()),
    complete,
    workloads: members.length,
  };
}

const passed = { state: "passed" } as const;

function isUnderWay({ stage }: BatchMember): boolean {
  return stage.state === "progressing" || stage.state === "stuck" || stage.state === "soaking";
}
