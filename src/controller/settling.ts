import type { Clock } from "../lib/clock.ts";

/**
 * Workloads that are left alone for a moment after their configuration changed, whatever else asks for them meanwhile:
 * were `kubectl scale` or an autoscaler to end that moment, the pod template that follows would roll a second time.
 */
export class Settling {
  readonly #clock: Clock;
  /** When each is over, on the monotonic clock. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Leaves `key` alone for `ms` from now; changes that follow within that time do not make it longer. */
  begin(key: string, ms: number): void {
    if (this.remaining(key) === 0 && ms > 0) this.#until.set(key, this.#clock.monotonic() + ms);
  }

  /** For how many more milliseconds `key` is to be left alone; 0 where it is not, and nothing is then kept of it. */
  remaining(key: string): number {
    const ms = (this.#until.get(key) ?? 0) - this.#clock.monotonic();
    if (ms > 0) return ms;
    this.#until.delete(key);
    return 0;
  }
}
