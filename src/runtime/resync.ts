import { type Clock, sleep } from "../lib/clock.ts";

/** The least time between two slices of a period. */
const sliceMs = 1_000;

/**
 * Calls `enqueue` once for each key in each period, evenly spread over the period, until `signal` is aborted. Reads `keys`
 * at the start of each period. `periodMs` of 0 turns the resync off.
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
    const slices = Math.max(1, Math.min(all.length, Math.ceil(periodMs / sliceMs)));
    for (let slice = 0; slice < slices; slice++) {
      try {
        await sleep(clock, periodMs / slices, signal);
      } catch {
        return;
      }
      for (const key of all.slice(startOf(all, slice, slices), startOf(all, slice + 1, slices))) enqueue(key);
    }
  }
}

/** Returns the index of the first key of a slice. */
function startOf({ length }: readonly string[], slice: number, slices: number): number {
  return Math.floor((length * slice) / slices);
}
