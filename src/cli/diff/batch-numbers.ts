import { type WaveGroup, type WaveMember, waveOf } from "../../domain/pacing/batches.ts";
import type { PacingFlags } from "../../domain/policy/pacing-flags.ts";

/** As many waves are counted; who would go later has no number. */
const mostWaves = 200;

/**
 * In which wave each of a group goes that is due, from 1, if every one before it is complete in its time; none for those that are
 * halted. Found by asking who may start, again and again.
 */
export function waveNumbers(group: WaveGroup, flags: PacingFlags): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  let members: readonly WaveMember[] = group.members;
  for (let number = 1; number <= mostWaves; ) {
    const { go } = waveOf({ ...group, members }, flags);
    const before = members;
    members = members.map((member) =>
      go.has(member.key) || isUnderWay(member) ? { ...member, stage: passed } : member,
    );
    for (const key of go) numbers.set(key, number);
    if (go.size > 0) number++;
    else if (before.every((member, index) => member === members[index])) break;
  }
  return numbers;
}

const passed = { state: "passed" } as const;

function isUnderWay({ stage }: WaveMember): boolean {
  return stage.state === "underWay" || stage.state === "soaking";
}
