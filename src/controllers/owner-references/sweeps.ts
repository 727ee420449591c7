/**
 * Which workloads are about to lose their finalizer, and what has to come first: a look at what is stored in the namespace,
 * one for all who wait for it, and a write to each object that still has one of them as its owner.
 */
export class Looks {
  /** Who waits for a look, by namespace: the `ownerText` of each by its key. */
  readonly #asked = new Map<string, Map<string, string>>();
  /** The same of those who are being looked for; not of those whom something has happened to meanwhile. */
  readonly #sought = new Map<string, string>();
  /** The same of those whom no object had as its owner after they had ceased to own, for one finalizer. */
  readonly #clear = new Map<string, string>();
  /** By object, which workloads wait until it has been written. */
  readonly #waiting = new Map<string, Set<string>>();
  /** Of how many objects each of these waits. */
  readonly #left = new Map<string, number>();

  /** "clear" where a look has found nothing that it owns; else it is looked for, or waits already. */
  ask(namespace: string, key: string, text: string): "clear" | "asked" | "waits" {
    if (this.#clear.get(key) === text) return "clear";
    if (this.#left.has(key)) return "waits";
    const asked = this.#asked.get(namespace) ?? new Map<string, string>();
    this.#asked.set(namespace, asked.set(key, text));
    return "asked";
  }

  /** Who is to be looked for in a namespace; from here on they are not, unless `clear` or `wait` say what came of it. */
  take(namespace: string): ReadonlyMap<string, string> {
    const asked = this.#asked.get(namespace) ?? new Map<string, string>();
    this.#asked.delete(namespace);
    for (const [key, text] of asked) this.#sought.set(key, text);
    return asked;
  }

  /** A look has found nothing that it owns, which is of no use where something has happened to it since `take`. */
  clear(key: string, text: string): void {
    if (this.#sought.get(key) === text) this.#clear.set(key, text);
    this.#sought.delete(key);
  }

  /** What was or is being found is of no use any more: it may own again, an object has it as its owner, it is gone or has lost its finalizer. */
  forget(key: string): void {
    this.#clear.delete(key);
    this.#sought.delete(key);
  }

  /** A workload waits until all of these objects have been written. */
  wait(key: string, objects: readonly string[]): void {
    const distinct = new Set(objects);
    this.#sought.delete(key);
    this.#left.set(key, distinct.size);
    for (const object of distinct) {
      const waiting = this.#waiting.get(object) ?? new Set<string>();
      this.#waiting.set(object, waiting.add(key));
    }
  }

  /** Whether somebody waits for an object, so that it is to be read whatever the caches say of it. */
  isAwaited(object: string): boolean {
    return this.#waiting.has(object);
  }

  /** Who waits for an object. */
  waitingFor(object: string): Iterable<string> {
    return this.#waiting.get(object) ?? [];
  }

  /** Who waits for a look at a namespace. */
  askedIn(namespace: string): Iterable<string> {
    return this.#asked.get(namespace)?.keys() ?? [];
  }

  /** An object has been written, or has nothing to be written: who waits for nothing else any more. */
  written(object: string): readonly string[] {
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
