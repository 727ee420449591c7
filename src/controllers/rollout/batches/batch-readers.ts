import { namespaceOf } from "../../../domain/model/workload.ts";
import type { Clock } from "../../../lib/clock.ts";

/** How long found readers are kept: a workload that is created meanwhile has the hash, or is enqueued by itself. */
const keptMs = 1_000;

/**
 * The readers of an object, by namespace. A thousand namespaces may share one object with ten readers each: each namespace
 * walks through its own ten, and all ten thousand are walked through at most once a second.
 */
export class BatchReaders {
  readonly #clock: Clock;
  readonly #readers: (config: string) => Iterable<string>;
  readonly #found = new Map<string, { readonly at: number; readonly of: ReadonlyMap<string, readonly string[]> }>();

  /** `readers` returns the keys of the workloads that read the object with a key. */
  constructor(clock: Clock, readers: (config: string) => Iterable<string>) {
    this.#clock = clock;
    this.#readers = readers;
  }

  /** Returns the keys of the workloads of a namespace that read an object. */
  in(namespace: string, config: string): readonly string[] {
    const now = this.#clock.monotonic();
    const known = this.#found.get(config);
    if (known !== undefined && now < known.at + keptMs) return known.of.get(namespace) ?? [];
    for (const [key, { at }] of this.#found) if (now >= at + keptMs) this.#found.delete(key);
    const of = Map.groupBy(this.#readers(config), namespaceOf);
    this.#found.set(config, { at: now, of });
    return of.get(namespace) ?? [];
  }
}
