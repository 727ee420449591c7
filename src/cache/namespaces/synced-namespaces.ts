/** A namespace that is not served yet: the kinds that were not listed, each with why, where a list failed. */
type Unlisted = Map<string, string | undefined>;

const mostLines = 10;

/**
 * Of which namespaces everything is known. One that cannot be listed (it may not exist, or nobody granted it to Wave) is
 * not served: nothing is decided about its workloads, nor about those that read configuration in it, because what is
 * missing there may exist all the same. It is tried again for ever, and meanwhile all others work.
 */
export class SyncedNamespaces {
  /** By namespace; "" stands for all, where all are watched at once. */
  readonly #unserved: Map<string, Unlisted>;
  readonly #count: number;

  constructor(namespaces: readonly string[], kinds: readonly string[]) {
    this.#unserved = new Map(namespaces.map((name) => [name, new Map(kinds.map((kind) => [kind, undefined]))]));
    this.#count = this.#unserved.size;
  }

  /** A kind was listed there. Returns whether that was the last one, so that the namespace is served from now on. */
  listed(namespace: string, kind: string): boolean {
    const unlisted = this.#unserved.get(namespace);
    if (unlisted === undefined) return false;
    unlisted.delete(kind);
    return unlisted.size === 0 && this.#unserved.delete(namespace);
  }

  /** A kind cannot be listed there at the moment. Without effect where it was listed before. */
  failed(namespace: string, kind: string, why: string): void {
    const unlisted = this.#unserved.get(namespace);
    if (unlisted?.has(kind)) unlisted.set(kind, why);
  }

  /** Whether nothing may be decided about what is in a namespace. Not so for one that is not watched at all. */
  isUnsynced(namespace: string): boolean {
    return this.#unserved.has(namespace);
  }

  /** Whether no namespace waits at all. */
  get allSynced(): boolean {
    return this.#unserved.size === 0;
  }

  /** Whether it is known of each namespace whether it can be served, and at least one is. */
  get isSettled(): boolean {
    if (this.#unserved.size === this.#count) return false;
    return this.#unserved.values().every((kinds) => kinds.values().some((why) => why !== undefined));
  }

  /** How many cannot be served. */
  get failureCount(): number {
    return [...this.#reasons()].length;
  }

  /** One line for each namespace that cannot be served, at most 10 and how many more there are. */
  lines(): readonly string[] {
    const all = [...this.#reasons()];
    if (all.length <= mostLines) return all;
    return [...all.slice(0, mostLines), `and ${all.length - mostLines} more namespaces`];
  }

  *#reasons(): Iterable<string> {
    for (const kinds of this.#unserved.values()) {
      const why = kinds.values().find((each) => each !== undefined);
      if (why !== undefined) yield why;
    }
  }
}
