import { type Clock, sleep } from "./clock.ts";

const pauseMs = 50;

/** Lets long work pause for short work that somebody waits for. */
export class RightOfWay {
  readonly #clock: Clock;
  #underWay = 0;
  #lastEnd = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does short work; ends as it ends. */
  async first<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay++;
    try {
      return await work();
    } finally {
      this.#underWay--;
      this.#lastEnd = this.#clock.monotonic();
    }
  }

  /**
   * For long work, between two pieces of it: what to wait for, 50 ms, or undefined where nothing goes first. Something
   * does while short work is under way and for 50 ms after it, because more often follows at once.
   */
  pause(): Promise<void> | undefined {
    const quiet = this.#underWay === 0 && this.#clock.monotonic() - this.#lastEnd >= pauseMs;
    return quiet ? undefined : sleep(this.#clock, pauseMs);
  }
}
