import { type Clock, longestTimerMs } from "../lib/clock.ts";
import { FairQueue, type Priority } from "./fair-queue.ts";
import type { TokenBucket } from "./token-bucket.ts";

/**
 * Who may write when, by `--update-rate` and `--update-burst`. A turn is taken when a worker is about to write, never
 * before. Where there is none the workload lines up, and nobody waits with it: when a turn comes, the next in line is
 * given it and planned again. Turns go round the namespaces, so that a workload waits for at most one write of each.
 * One that then has nothing to write drops its turn, which is at once the next one's.
 */
export class WritePermits {
  readonly #clock: Clock;
  readonly #tokens: TokenBucket;
  readonly #onGiven: (key: string) => void;
  readonly #line: FairQueue;
  /** Who was given a turn and has neither taken nor dropped it. */
  readonly #given = new Set<string>();
  #cancelTimer: (() => void) | undefined;
  #closed = false;

  /** `onGiven` is told whose turn it is now: plan it, then `take` or `drop`. */
  constructor(options: {
    clock: Clock;
    tokens: TokenBucket;
    flowOf: (key: string) => string;
    onGiven: (key: string) => void;
  }) {
    this.#line = new FairQueue(options.flowOf);
    this.#clock = options.clock;
    this.#tokens = options.tokens;
    this.#onGiven = options.onGiven;
  }

  /** How many workloads have something to write and wait for their turn. */
  get waiting(): number {
    return this.#line.size;
  }

  /** Whether a workload is in line or has a turn. */
  has(key: string): boolean {
    return this.#given.has(key) || this.#line.has(key);
  }

  /** Takes a turn for one write; false where there is none, and then the workload is in line, or after `close`. */
  take(key: string, priority: Priority): boolean {
    if (this.#closed) return false;
    if (this.#given.delete(key)) return true;
    // Whoever is in line is before whoever comes.
    if (this.#line.size === 0 && this.#tokens.take()) return true;
    this.#line.add(key, priority);
    if (this.#cancelTimer === undefined) this.#giveOut();
    return false;
  }

  /** Leaves the line, and gives back a turn that was not taken: there is nothing to write. */
  drop(key: string): void {
    this.#line.delete(key);
    if (this.#given.delete(key)) this.giveBack();
  }

  /** Gives back a turn that was taken and not used. */
  giveBack(): void {
    this.#tokens.giveBack();
    this.#giveOut();
  }

  /** Everybody leaves, and nothing more is given out. */
  close(): void {
    this.#closed = true;
    for (let left = this.#given.size; left > 0; left--) this.#tokens.giveBack();
    this.#given.clear();
    this.#line.clear();
    this.#giveOut();
  }

  #giveOut(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    while (this.#line.size > 0 && this.#tokens.take()) {
      const key = this.#line.take();
      if (key === undefined) return;
      this.#given.add(key);
      this.#onGiven(key);
    }
    if (this.#line.size === 0) return;
    const ms = Math.min(longestTimerMs, Math.ceil(this.#tokens.waitMs));
    this.#cancelTimer = this.#clock.timer(ms, () => this.#giveOut());
  }
}
