import type { Clock } from "../lib/clock.ts";

/**
 * A rate limit that never blocks and reserves nothing. After a quiet time it holds `burst` tokens, and gets a new token
 * every 1/`perSecond` seconds. `perSecond` of Infinity turns the limit off.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  /** How far before now the time of the next token may be: older tokens that were not taken are lost. */
  readonly #savedMs: number;
  /** The time of the next token, which may be in the past. */
  #next = Number.NEGATIVE_INFINITY;

  constructor({ clock, perSecond, burst }: { clock: Clock; perSecond: number; burst: number }) {
    this.#clock = clock;
    this.#intervalMs = 1000 / perSecond;
    this.#savedMs = (burst - 1) * this.#intervalMs;
  }

  /** The milliseconds until the next token; 0 if there is a token now. */
  get waitMs(): number {
    return Math.max(0, this.#next - this.#clock.monotonic());
  }

  /** Takes a token. Returns false if there is no token. */
  take(): boolean {
    if (this.waitMs > 0) return false;
    this.#next = Math.max(this.#next, this.#clock.monotonic() - this.#savedMs) + this.#intervalMs;
    return true;
  }

  /** Returns a token that was taken and not needed. */
  giveBack(): void {
    this.#next -= this.#intervalMs;
  }
}
