import type { Clock } from "../lib/clock.ts";

/**
 * A rate limit that never blocks and reserves nothing. Up to `burst` tokens are there after a quiet time, and a new one
 * comes every 1/`perSecond` seconds. `perSecond` of Infinity turns the limit off.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  /** How far before now the next token may lie: what was not taken within this time is lost. */
  readonly #savedMs: number;
  /** When the next token comes or came. */
  #next = Number.NEGATIVE_INFINITY;

  constructor({ clock, perSecond, burst }: { clock: Clock; perSecond: number; burst: number }) {
    this.#clock = clock;
    this.#intervalMs = 1000 / perSecond;
    this.#savedMs = (burst - 1) * this.#intervalMs;
  }

  /** Milliseconds until there is a token; 0 where there is one. */
  get waitMs(): number {
    return Math.max(0, this.#next - this.#clock.monotonic());
  }

  /** Takes a token; false where there is none. */
  take(): boolean {
    if (this.waitMs > 0) return false;
    this.#next = Math.max(this.#next, this.#clock.monotonic() - this.#savedMs) + this.#intervalMs;
    return true;
  }

  /** Gives back a token that was taken and not needed. */
  giveBack(): void {
    this.#next -= this.#intervalMs;
  }
}
