import { type Clock, longestTimerMs } from "../lib/clock.ts";
import { FairQueue, type Priority } from "./fair-queue.ts";
import type { TokenBucket } from "./token-bucket.ts";

/**
 * Grants writes at `--update-rate` and `--update-burst`, round-robin by flow (namespace). A worker takes a permit right
 * before a write. If there is no permit, the key waits and no worker waits with it: when the permit is granted, the key
 * is reconciled again. So a key waits for at most one write of each other flow. If a key with a permit has nothing to
 * write, its permit goes to the next key at once.
 */
export class WritePermits {
  readonly #clock: Clock;
  readonly #tokens: TokenBucket;
  readonly #onGranted: (key: string) => void;
  readonly #waiting: FairQueue;
  /** The keys that have a permit and neither took nor dropped it. */
  readonly #granted = new Set<string>();
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  /** `onGranted` is called with the key that has a permit now: reconcile the key, then call `take` or `drop`. */
  constructor(options: {
    clock: Clock;
    tokens: TokenBucket;
    flowOf: (key: string) => string;
    onGranted: (key: string) => void;
  }) {
    this.#waiting = new FairQueue(options.flowOf);
    this.#clock = options.clock;
    this.#tokens = options.tokens;
    this.#onGranted = options.onGranted;
  }

  /** The number of keys that wait for a permit. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Reports whether `key` waits for a permit or has one. */
  has(key: string): boolean {
    return this.#granted.has(key) || this.#waiting.has(key);
  }

  /** Takes a permit for one write. Returns false if there is no permit, and the key waits; also after `close`. */
  take(key: string, priority: Priority): boolean {
    if (this.#closed) return false;
    if (this.#granted.delete(key)) return true;
    // Keys that already wait come before a new one.
    if (this.#waiting.size === 0 && this.#tokens.take()) return true;
    this.#waiting.add(key, priority);
    if (this.#cancelTimer === undefined) this.#grant();
    return false;
  }

  /** Removes `key`, which has nothing to write, and returns its permit if it has one. */
  drop(key: string): void {
    this.#waiting.delete(key);
    if (this.#granted.delete(key)) this.giveBack();
  }

  /** Returns a permit that was taken and not used. */
  giveBack(): void {
    this.#tokens.giveBack();
    this.#grant();
  }

  /** Removes all keys. No permit is granted any more. */
  close(): void {
    this.#closed = true;
    for (let left = this.#granted.size; left > 0; left--) this.#tokens.giveBack();
    this.#granted.clear();
    this.#waiting.clear();
    this.#grant();
  }

  #grant(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    while (this.#waiting.size > 0 && this.#tokens.take()) {
      const key = this.#waiting.take();
      if (key === undefined) return;
      this.#granted.add(key);
      this.#onGranted(key);
    }
    if (this.#waiting.size === 0) return;
    const ms = Math.min(longestTimerMs, Math.ceil(this.#tokens.waitMs));
    this.#cancelTimer = this.#clock.timer(ms, () => this.#grant());
  }
}
