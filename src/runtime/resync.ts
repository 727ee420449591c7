import { type Clock, sleep } from "../lib/clock.ts";

/** Turns are this far apart, or further where there are few workloads. */
const permitMs = 1_000;

/**
 * Calls `enqueue` for every key once in each period, evenly spread over it, until `signal` is aborted. `keys` is asked
 * at the start of each period. A period of 0 turns this off.
 */
export async function resync(options: {
  readonly periodMs: number;
  readonly keys: () => Iterable<string>;
  readonly enqueue: (key: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { periodMs, keys, enqueue, clock, signal } = options;
  if (periodMs === 0) return;
  while (!signal.aborted) {
    const all = [...keys()];
    const permits = Math.max(1, Math.min(all.length, Math.ceil(periodMs / permitMs)));
    for (let turn = 0; turn < permits; turn++) {
      try {
        await sleep(clock, periodMs / permits, signal);
      } catch {
        return;
      }
      for (const key of all.slice(part(all, turn, permits), part(all, turn + 1, permits))) enqueue(key);
    }
  }
}

/** Where the part of a turn begins. */
function part({ length }: readonly string[], turn: number, permits: number): number {
  return Math.floor((length * turn) / permits);
}
