import type { Clock } from "../../src/lib/clock.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock for tests that stands still until it is told to move. Only tests import it. */
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

  /** How many timers are waiting. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves the wall clock alone, as after a suspended machine or a correction; timers do not notice. */
  jumpWall(ms: number): void {
    this.#wallOffset += ms;
  }

  /** Moves both clocks on by `ms`, calling each timer that falls due at its time, in order, and letting promises settle. */
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

/** Lets every promise that is ready run on. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
