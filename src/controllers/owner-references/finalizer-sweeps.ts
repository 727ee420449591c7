/**
 * Tracks the workloads that are about to lose their finalizer. First a sweep of the namespace finds the objects that still
 * have them as owners, one sweep for all waiting workloads. Then each of these objects must be written.
 */
export class FinalizerSweeps {
  /** The workloads that wait for a sweep, by namespace: the `ownerText` of each, by its key. */
  readonly #requested = new Map<string, Map<string, string>>();
  /** The same for the workloads of running sweeps, unless something happened to them meanwhile. */
  readonly #swept = new Map<string, string>();
  /** The same for the workloads that no object has as its owner any more, for one finalizer. */
  readonly #clear = new Map<string, string>();
  /** By object: the workloads that wait until the object is written. */
  readonly #waiting = new Map<string, Set<string>>();
  /** By workload: the number of objects that it waits for. */
  readonly #left = new Map<string, number>();

  /** Returns "clear" if a sweep found no object of the workload. Otherwise it is swept next, or waits already. */
  request(namespace: string, key: string, text: string): "clear" | "requested" | "waits" {
    if (this.#clear.get(key) === text) return "clear";
    if (this.#left.has(key)) return "waits";
    const requested = this.#requested.get(namespace) ?? new Map<string, string>();
    this.#requested.set(namespace, requested.set(key, text));
    return "requested";
  }

  /** Starts a sweep and returns its workloads. `markClear` or `wait` reports the result of each. */
  start(namespace: string): ReadonlyMap<string, string> {
    const requested = this.#requested.get(namespace) ?? new Map<string, string>();
    this.#requested.delete(namespace);
    for (const [key, text] of requested) this.#swept.set(key, text);
    return requested;
  }

  /** Records that a sweep found no object of a workload. No effect if something happened to the workload since `start`. */
  markClear(key: string, text: string): void {
    if (this.#swept.get(key) === text) this.#clear.set(key, text);
    this.#swept.delete(key);
  }

  /** Drops the result for a workload: it may own again, an object has it as its owner, it is gone, or has no finalizer. */
  forget(key: string): void {
    this.#clear.delete(key);
    this.#swept.delete(key);
  }

  /** Makes a workload wait until all of these objects are written. */
  wait(key: string, objects: readonly string[]): void {
    const distinct = new Set(objects);
    this.#swept.delete(key);
    this.#left.set(key, distinct.size);
    for (const object of distinct) {
      const waiting = this.#waiting.get(object) ?? new Set<string>();
      this.#waiting.set(object, waiting.add(key));
    }
  }

  /** Reports whether a workload waits for an object, which must then be read, whatever the caches hold. */
  isAwaited(object: string): boolean {
    return this.#waiting.has(object);
  }

  waitingFor(object: string): Iterable<string> {
    return this.#waiting.get(object) ?? [];
  }

  /** Returns the workloads that wait for a sweep of a namespace. */
  requestedIn(namespace: string): Iterable<string> {
    return this.#requested.get(namespace)?.keys() ?? [];
  }

  /** Records that an object is written, or needs no write. Returns the workloads that wait for no other object. */
  objectDone(object: string): readonly string[] {
    const free: string[] = [];
    for (const key of this.#waiting.get(object) ?? []) {
      const left = (this.#left.get(key) ?? 1) - 1;
      if (left > 0) this.#left.set(key, left);
      else {
        this.#left.delete(key);
        free.push(key);
      }
    }
    this.#waiting.delete(object);
    return free;
  }
}
