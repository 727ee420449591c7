/** The kinds that are not listed yet in a namespace, with the reason if a list failed. */
type UnlistedKinds = Map<string, string | undefined>;

const maxLines = 10;

/**
 * Tracks which namespaces are synced. A namespace that cannot be listed (it may not exist, or Wave lacks the permission) is
 * unsynced. Wave decides nothing about its workloads, nor about workloads that read configuration in it, because an object that
 * is missing here may exist. Lists are retried forever, and all other namespaces work meanwhile.
 */
export class SyncedNamespaces {
  /** By namespace. The key "" means all, if one watch has all. */
  readonly #unsynced: Map<string, UnlistedKinds>;
  readonly #count: number;

  constructor(namespaces: readonly string[], kinds: readonly string[]) {
    this.#unsynced = new Map(namespaces.map((name) => [name, new Map(kinds.map((kind) => [kind, undefined]))]));
    this.#count = this.#unsynced.size;
  }

  /** Records that a kind was listed. Returns true if it was the last one, so that the namespace is synced from now on. */
  listed(namespace: string, kind: string): boolean {
    const unlisted = this.#unsynced.get(namespace);
    if (unlisted === undefined) return false;
    unlisted.delete(kind);
    return unlisted.size === 0 && this.#unsynced.delete(namespace);
  }

  /** Records that a kind cannot be listed now. No effect if the kind was listed before. */
  failed(namespace: string, kind: string, reason: string): void {
    const unlisted = this.#unsynced.get(namespace);
    if (unlisted?.has(kind)) unlisted.set(kind, reason);
  }

  /** Reports whether a namespace is watched and not synced. */
  isUnsynced(namespace: string): boolean {
    return this.#unsynced.has(namespace);
  }

  /** Returns the watched namespaces that are not synced. */
  unsynced(): Iterable<string> {
    return this.#unsynced.keys();
  }

  /** Reports whether all watched namespaces are synced. */
  get allSynced(): boolean {
    return this.#unsynced.size === 0;
  }

  /** Reports whether each namespace is synced or has a failed list, and at least one is synced. */
  get isSettled(): boolean {
    if (this.#unsynced.size === this.#count) return false;
    return this.#unsynced.values().every((kinds) => kinds.values().some((reason) => reason !== undefined));
  }

  /** Number of namespaces with a failed list. */
  get failureCount(): number {
    return [...this.#reasons()].length;
  }

  /** Returns one line for each namespace with a failed list: at most 10, and the number of others. */
  lines(): readonly string[] {
    const all = [...this.#reasons()];
    if (all.length <= maxLines) return all;
    return [...all.slice(0, maxLines), `and ${all.length - maxLines} more namespaces`];
  }

  *#reasons(): Iterable<string> {
    for (const kinds of this.#unsynced.values()) {
      const reason = kinds.values().find((each) => each !== undefined);
      if (reason !== undefined) yield reason;
    }
  }
}
