import type { Clock } from "../../src/lib/clock.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock for tests that does not move until the test moves it. For tests only. */
export class FakeClock implements Clock {
  #now = 0;
  #wallOffset = Date.UTC(2026, 0, 1);
  #timers = new Set<Timer>();

  readonly wall = (): number => this.#now + this.#wallOffset;
  readonly monotonic = (): number => this.#now;
  readonly timer = (ms: number, callback: () => void): (() => void) => {
    const timer = { at: this.#now + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** The number of timers that are waiting. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves only the wall clock, as after a suspension of the machine or a correction. Timers do not notice. */
  jumpWall(ms: number): void {
    this.#wallOffset += ms;
  }

  /** Moves both clocks forward by `ms`. Calls each due timer at its time, in order, and lets promises settle. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await settle();
    for (let next = this.#due(until); next !== undefined; next = this.#due(until)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = until;
    await settle();
  }

  #due(until: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= until && (first === undefined || timer.at < first.at)) first = timer;
    }
    return first;
  }
}

/** Lets every promise that is ready continue. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
