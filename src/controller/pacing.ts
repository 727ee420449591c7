import type { Clock } from "../lib/clock.ts";

/** What gives out the right to write: a TokenBucket. */
export interface Tokens {
  reserve(): number;
}

/**
 * Who may write when, by `--update-rate` and `--update-burst`. A workload that has to wait keeps the token that it
 * reserved, however often it is planned in the meantime, so that several edits during the wait make one patch and cost
 * one token.
 */
export class Pacing {
  readonly #clock: Clock;
  readonly #tokens: Tokens;
  readonly #reservedAt = new Map<string, number>();

  constructor(clock: Clock, tokens: Tokens) {
    this.#clock = clock;
    this.#tokens = tokens;
  }

  /** Takes the workload's token and returns 0, or returns the milliseconds after which it is to ask again. */
  take(key: string): number {
    const now = this.#clock.monotonic();
    const dueAt = this.#reservedAt.get(key) ?? now + this.#tokens.reserve();
    // A timer may fire a fraction of a millisecond early; a workload must not be sent to wait again for that.
    if (dueAt - now < 1) {
      this.#reservedAt.delete(key);
      return 0;
    }
    this.#reservedAt.set(key, dueAt);
    return dueAt - now;
  }

  /** Gives up what the workload reserved: there is nothing left to write. */
  drop(key: string): void {
    this.#reservedAt.delete(key);
  }
}
