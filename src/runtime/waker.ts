import type { Clock } from "../lib/clock.ts";

/** Lets one waiting loop be woken; being woken while it does not wait is remembered. */
export class Waker {
  #woken = false;
  #notify: (() => void) | undefined;

  /** Ends the wait under way, or the next one. */
  wake(): void {
    this.#woken = true;
    this.#notify?.();
  }

  /** Resolves when woken, after `ms` milliseconds, or when the signal is aborted; true where it was woken. */
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
