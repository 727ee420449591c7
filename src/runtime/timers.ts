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
    const left = [...keys()];
    const slices = Math.max(1, Math.min(left.length, Math.ceil(periodMs / sliceMs)));
    for (let slice = 0; slice < slices; slice++) {
      try {
        await sleep(clock, periodMs / slices, signal);
      } catch {
        return;
      }
      for (const key of left.splice(0, Math.round(left.length / (slices - slice)))) enqueue(key);
    }
  }
}

/** Wakes one waiting loop. A wake-up while the loop does not wait ends its next wait. */
export class Waker {
  #woken = false;
  #notify: (() => void) | undefined;

  /** Ends the current wait, or the next one. */
  wake(): void {
    this.#woken = true;
    this.#notify?.();
  }

  /** Waits for a wake-up, for `ms` milliseconds, or for the signal. Resolves to true if it was woken. */
  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#woken && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      this.#notify = () => resolve(undefined);
      const cancel = clock.timer(ms, () => resolve(undefined));
      signal.addEventListener("abort", resolve, { once: true });
      await promise;
      signal.removeEventListener("abort", resolve);
      cancel();
      this.#notify = undefined;
    }
    const woken = this.#woken;
    this.#woken = false;
    return woken;
  }
}

/**
 * Returns the delay after failure number `attempt`, from 0, in milliseconds: `baseMs` doubled `attempt` times, at most
 * `maxMs`. The result is between half of that and all of it, so that clients that failed together do not return together.
 */
export function backoffMs(
  attempt: number,
  { baseMs, maxMs, random }: { readonly baseMs: number; readonly maxMs: number; readonly random: () => number },
): number {
  const longest = Math.min(maxMs, baseMs * 2 ** attempt);
  return longest * (0.5 + random() / 2);
}
