import type { Clock } from "../lib/clock.ts";
import type { Leadership } from "./leadership.ts";
import type { TokenBucket } from "./token-bucket.ts";
import { WritePermits } from "./write-permits.ts";

/**
 * Write permits for one leadership, round-robin by flow (namespace), for workers that wait for their permit because they would have to read
 * everything again. All waits end with the leadership.
 */
export class LeaderPermits {
  /** Aborted when the leadership ends in either way. */
  readonly over: AbortSignal;
  readonly #leadership: Leadership;
  readonly #permits: WritePermits;
  readonly #granted = new Map<string, () => void>();

  constructor(options: {
    readonly clock: Clock;
    readonly tokens: TokenBucket;
    readonly leadership: Leadership;
    readonly flowOf: (key: string) => string;
  }) {
    const { stop, abort } = options.leadership;
    this.#leadership = options.leadership;
    this.#permits = new WritePermits({
      ...options,
      onGranted: (key) => {
        const granted = this.#granted.get(key);
        this.#granted.delete(key);
        granted?.();
      },
    });
    this.over = AbortSignal.any([stop, abort]);
    this.over.addEventListener("abort", () => this.#close(), { once: true });
    if (this.over.aborted) this.#close();
  }

  /** Reports whether this process may not write any more. */
  get isOver(): boolean {
    return this.over.aborted || !this.#leadership.valid();
  }

  /** Resolves to true with a permit for one write, or to false when the leadership is over. A key takes one permit at a time. */
  async take(key: string): Promise<boolean> {
    if (this.isOver) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Stored first: the permit may be granted while `take` runs.
    this.#granted.set(key, resolve);
    if (!this.#permits.take(key, "low")) {
      await promise;
      if (!this.#permits.take(key, "low")) return false;
    }
    this.#granted.delete(key);
    return !this.isOver;
  }

  #close(): void {
    this.#permits.close();
    for (const granted of this.#granted.values()) granted();
    this.#granted.clear();
  }
}
