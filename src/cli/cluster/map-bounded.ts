import { SlotPool } from "../../lib/slot-pool.ts";

/** How many requests a command has under way at once: enough to be quick, too few to be in anybody's way. */
const atOnce = 8;

/** What `ask` makes of each, in their order, a few at a time. Rejects as soon as one does. */
export function mapBounded<T, R>(all: readonly T[], ask: (one: T) => Promise<R>): Promise<readonly R[]> {
  const lane = new SlotPool(atOnce);
  const { signal } = new AbortController();
  return Promise.all(
    all.map(async (one) => {
      using _place = await lane.acquire(signal);
      return ask(one);
    }),
  );
}
