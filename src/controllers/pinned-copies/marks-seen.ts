import type { StoredCopy } from "../../domain/pinning/collect.ts";
import type { Clock } from "../../lib/clock.ts";

/** Since when this process has seen the marks of copies, in monotonic milliseconds. */
export class MarksSeen {
  readonly #clock: Clock;
  readonly #seenMs: number;
  readonly #since = new Map<string, ReadonlyMap<string, number>>();

  /** `seenMs` is how long a mark must be seen. */
  constructor(clock: Clock, seenMs: number) {
    this.#clock = clock;
    this.#seenMs = seenMs;
  }

  /** Records the marks of all copies of a namespace, and returns how much longer the mark of each copy must be seen. */
  see(namespace: string, copies: readonly StoredCopy[]): (copy: StoredCopy) => number {
    const now = this.#clock.monotonic();
    const before = this.#since.get(namespace);
    const marked = copies.filter(({ unusedSince }) => unusedSince !== undefined);
    const since = new Map(marked.map((copy) => [keyOf(copy), before?.get(keyOf(copy)) ?? now]));
    if (since.size === 0) this.#since.delete(namespace);
    else this.#since.set(namespace, since);
    return (copy) => (since.get(keyOf(copy)) ?? now) + this.#seenMs - now;
  }
}

/** Returns what identifies a mark: another mark of the same copy has another time. */
function keyOf({ uid, unusedSince }: StoredCopy): string {
  return `${uid} ${unusedSince}`;
}
