import { type ConfigName, configKey } from "../../domain/references/references.ts";
import type { Clock } from "../../lib/clock.ts";

/** Limit of the removed objects whose time is kept. */
const maxRemoved = 1_000;

/** Since when objects that do not exist have been absent, as the watches of this process show. Times are in monotonic milliseconds. */
export class Absences {
  readonly #clock: Pick<Clock, "monotonic">;
  /** When the last list was complete, by kind and namespace: before it, objects may have come and gone. */
  readonly #listed = new Map<string, number>();
  /** When the removal of an object was received, the oldest first. */
  readonly #removed = new Map<string, number>();
  /** The last removal that was forgotten. */
  #forgotten = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Records a complete list. The namespace is "" if the list has all namespaces. */
  listed(kind: string, namespace: string): void {
    this.#listed.set(`${kind}/${namespace}`, this.#clock.monotonic());
  }

  /** Records the removal of an object. */
  removed(key: string): void {
    this.#removed.delete(key);
    this.#removed.set(key, this.#clock.monotonic());
    if (this.#removed.size <= maxRemoved) return;
    for (const [oldest, at] of this.#removed) {
      this.#removed.delete(oldest);
      this.#forgotten = at;
      return;
    }
  }

  /** Returns since when an object that the caches do not hold has been absent, at the latest; undefined if its namespace is not listed. */
  since(object: ConfigName): number | undefined {
    const { kind, namespace } = object;
    const listed = this.#listed.get(`${kind}/`) ?? this.#listed.get(`${kind}/${namespace}`);
    return listed && Math.max(listed, this.#forgotten, this.#removed.get(configKey(object)) ?? 0);
  }
}
