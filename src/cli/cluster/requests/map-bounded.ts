import { SlotPool } from "../../../lib/slot-pool.ts";

/** How many requests one call has in flight: enough to be fast, few enough not to disturb other clients of the API server. */
const atOnce = 8;

/** Returns the results of `read` for all items, in their order, with at most {@link atOnce} running at a time. Rejects with the first rejection. */
export function mapBounded<T, R>(all: readonly T[], read: (one: T) => Promise<R>): Promise<readonly R[]> {
  const lane = new SlotPool(atOnce);
  const { signal } = new AbortController();
  return Promise.all(
    all.map(async (one) => {
      using _place = await lane.acquire(signal);
      return read(one);
    }),
  );
}
