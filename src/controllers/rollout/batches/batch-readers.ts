import { namespaceOf } from "../../../domain/model/workload.ts";
import type { Clock } from "../../../lib/clock.ts";

/** How long what was found is taken for true: a workload made meanwhile has the hash, or asks by itself. */
const keptMs = 1_000;

/**
 * Who reads an object, apart for each namespace. A thousand namespaces may share one object with ten readers each: each
 * of them looks through its own ten, and all ten thousand are gone through once a second at most.
 */
export class BatchReaders {
  readonly #clock: Clock;
  readonly #readers: (config: string) => Iterable<string>;
  readonly #found = new Map<string, { readonly at: number; readonly of: ReadonlyMap<string, readonly string[]> }>();

  /** `readers` tells the keys of the workloads that read the object of a key. */
  constructor(clock: Clock, readers: (config: string) => Iterable<string>) {
    this.#clock = clock;
    this.#readers = readers;
  }

  /** The keys of the workloads of a namespace that read an object. */
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
