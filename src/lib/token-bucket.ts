import type { Clock } from "./clock.ts";

/**
 * A rate limit that never blocks: who asks is told how long to wait, and that slot is theirs. Up to `burst` tokens are
 * there at once after a quiet time, and a new one comes every 1/`perSecond` seconds. Slots are given out in the order
 * in which they are asked for. `perSecond` of 0 or Infinity turns the limit off.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  /** How far before now a free slot may lie: what was not used within this time is lost. */
  readonly #savedMs: number;
  #nextSlot = Number.NEGATIVE_INFINITY;

  constructor({ clock, perSecond, burst }: { clock: Clock; perSecond: number; burst: number }) {
    this.#clock = clock;
    this.#intervalMs = perSecond > 0 ? 1000 / perSecond : 0;
    this.#savedMs = (burst - 1) * this.#intervalMs;
  }

  /** Takes a token that is there and returns 0, or reserves the next one and returns the milliseconds until it is there. */
  reserve(): number {
    if (this.#intervalMs === 0) return 0;
    const now = this.#clock.monotonic();
    const slot = Math.max(this.#nextSlot, now - this.#savedMs);
    this.#nextSlot = slot + this.#intervalMs;
    return Math.max(0, slot - now);
  }
}
