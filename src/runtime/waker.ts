import type { Clock } from "../lib/clock.ts";

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
