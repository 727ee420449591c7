import { backoffMs } from "./backoff.ts";

/** Timers may fire this many milliseconds early. */
const timerToleranceMs = 5;

/** The consecutive failures of one key. */
interface FailedKey {
  readonly failures: number;
  /** When the key is retried, in monotonic milliseconds. */
  readonly retryAt: number;
}

/**
 * The consecutive failures of each key, and the backoff that follows from them. A failure before the time of the retry is
 * not added: a user who edits while a write is refused does not make it wait longer once the write is allowed.
 */
export class Retries {
  readonly #baseMs: number;
  readonly #random: () => number;
  readonly #keys = new Map<string, FailedKey>();

  /** The first delay is about `baseMs` milliseconds. `random` returns numbers in [0, 1). */
  constructor({ baseMs, random }: { readonly baseMs: number; readonly random: () => number }) {
    this.#baseMs = baseMs;
    this.#random = random;
  }

  /** Returns the number of consecutive failures of `key`; 0 after a success. */
  failuresOf(key: string): number {
    return this.#keys.get(key)?.failures ?? 0;
  }

  /** Records a failure at `now` and returns the delay of the next try: it doubles with each failure, up to `maxMs`. */
  failed(key: string, now: number, maxMs: number): number {
    const before = this.#keys.get(key);
    const isOnTime = before === undefined || now >= before.retryAt - timerToleranceMs;
    const failures = (before?.failures ?? 0) + (isOnTime ? 1 : 0);
    const delayMs = backoffMs(failures - 1, { baseMs: this.#baseMs, maxMs, random: this.#random });
    this.#keys.set(key, { failures, retryAt: now + delayMs });
    return delayMs;
  }

  /** Forgets the failures of `key`. */
  succeeded(key: string): void {
    this.#keys.delete(key);
  }
}
