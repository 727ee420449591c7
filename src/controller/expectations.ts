import type { Clock } from "../lib/clock.ts";
import type { Workload } from "../rollout/workload.ts";

interface Expectation {
  /** What the cache held when `newest` was written or read. */
  readonly cached: Workload;
  readonly newest: Workload;
  readonly expiresAt: number;
}

/** As in client-go's ControllerExpectations: a watch that lost an answer must not make Wave trust its memory for ever. */
const expectationTtlMs = 30_000;

/**
 * Workloads that are known to be newer than the cache: the answer to a PATCH, or what was read after a conflict. Planning
 * from the cache alone would write the same hash twice in the moment before the watch brings the first write.
 * Holds an entry only for workloads whose cache is behind.
 */
export class Expectations {
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Expectation>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Remembers `newest`, which the API server told while the cache held `cached`. */
  expect(key: string, cached: Workload, newest: Workload): void {
    this.#byKey.set(key, { cached, newest, expiresAt: this.#clock.monotonic() + expectationTtlMs });
  }

  /** The newest known form of a workload of which the cache holds `cached`. */
  newest(key: string, cached: Workload): Workload {
    const expectation = this.#byKey.get(key);
    if (expectation === undefined) return cached;
    if (isBehind(cached, expectation) && this.#clock.monotonic() < expectation.expiresAt) return expectation.newest;
    this.#byKey.delete(key);
    return cached;
  }

  forget(key: string): void {
    this.#byKey.delete(key);
  }
}

/**
 * A cache that still holds the same object has heard of nothing. One that holds another is behind only as long as its
 * generation is lower: each write of Wave's to the pod template raises it.
 */
function isBehind(cached: Workload, { cached: before, newest }: Expectation): boolean {
  return cached === before || (cached.uid === newest.uid && cached.generation < newest.generation);
}
