// Stores of one kind of object, and the reflectors that fill them. Knows no particular kind.

/** Where an object comes from. Only a watch shows each change, with the resourceVersion of that change. */
export type Source = "first list" | "later list" | "watch";

/** A difference between what a store held and what it holds now. At least one of `before` and `after` is present. */
export interface StoreChange<T> {
  /** `Kind/namespace/name`. */
  readonly key: string;
  /** The previous value; undefined if the store had none. */
  readonly before: T | undefined;
  /** The current value; undefined if the object is gone. */
  readonly after: T | undefined;
  /** Reports whether the change came from a list (at start or after a gap in the watch) and not from a single event. */
  readonly initial: boolean;
}

/** Dependencies of a {@link Store}. */
export interface StoreOptions<T> {
  /** Kind of the objects, for the keys of changes. */
  readonly kind: string;
  /** Reports whether two values of one object are the same to all readers. */
  readonly same: (a: T, b: T) => boolean;
  /** Receives each difference after the store holds it. */
  readonly onChange: (change: StoreChange<T>) => void;
  /**
   * Receives each replacement of a {@link Store.newest} value, before `onChange`. Also receives the way back if a list
   * that brought the value breaks off. Use it to keep totals over what the store keeps in memory.
   */
  readonly onReplaced?: ((before: T | undefined, after: T | undefined) => void) | undefined;
}

/** Values by namespace and name. Two levels use less memory than one combined key for tens of thousands of objects. */
type ByName<T> = Map<string, Map<string, T>>;

/**
 * The values of all objects that one reflector receives. Anyone may read; only the reflector writes.
 *
 * The store fills a list aside and swaps it in when the list is complete. Until then readers see the previous values. Only
 * the very first list is filled in place, because there is nothing to see before it. A new value that is the same as the
 * held value is dropped: the held value keeps its identity, and there is no change.
 */
export class Store<T> {
  readonly #options: StoreOptions<T>;
  #held: ByName<T> = new Map();
  /** The list that is being filled: `#held` itself if in place; undefined between lists. */
  #list: ByName<T> | undefined;
  #synced = false;
  #syncedUpTo = 0;
  /** The highest resourceVersion in the list that is being filled. */
  #listedUpTo = 0;
  readonly #concurrentLists = new ConcurrentLists();

  constructor(options: StoreOptions<T>) {
    this.#options = options;
  }

  /** Reports whether a first list is complete. Before that, an object that is missing here may still exist. */
  get synced(): boolean {
    return this.#synced;
  }

  /**
   * Returns the resourceVersion of the last event, or the highest of the last list: the store has received everything
   * before it. The value decreases if a list comes from storage that was restored, or if a watch sends old events again.
   * The store may then hold an older state until it has caught up.
   */
  get syncedUpTo(): number {
    return this.#syncedUpTo;
  }

  /** Records the resourceVersion of an event. For a list, it takes effect when the list is complete. */
  recordVersion(resourceVersion: unknown): void {
    const version = Number(resourceVersion);
    if (this.#list !== undefined) this.#listedUpTo = Math.max(this.#listedUpTo, version || 0);
    else if (version > 0) this.#syncedUpTo = version;
  }

  /** Returns where the objects that it receives now come from. */
  get source(): Source {
    if (this.#list === undefined) return "watch";
    return this.#synced ? "later list" : "first list";
  }

  get size(): number {
    return this.#held.values().reduce((sum, names) => sum + names.size, 0);
  }

  /** Returns the value that readers see. `namespace` is "" for a cluster-scoped kind. */
  get(namespace: string, name: string): T | undefined {
    return this.#held.get(namespace)?.get(name);
  }

  /** Returns the value in the list that is being filled; otherwise the value that readers see. For writers. */
  newest(namespace: string, name: string): T | undefined {
    return this.#list?.get(namespace)?.get(name) ?? this.get(namespace, name);
  }

  /** Returns all values, in no particular order. */
  values(): IteratorObject<T> {
    return this.#held.values().flatMap((names) => names.values());
  }

  valuesIn(namespace: string): Iterable<T> {
    return this.#held.get(namespace)?.values() ?? [];
  }

  countIn(namespace: string): number {
    return this.#held.get(namespace)?.size ?? 0;
  }

  /**
   * Begins to accept a list of one namespace that is requested after this call, while the watch continues. An object from
   * it is valid only if the watch sends no event for that object and begins no list of its own in the meantime. Returns
   * undefined while the watch lists, or before its first list.
   */
  beginConcurrentList(namespace: string): ConcurrentList | undefined {
    return this.#synced && this.#list === undefined ? this.#concurrentLists.begin(namespace) : undefined;
  }

  /** Starts a list. Discards what an unfinished list brought. */
  beginList(): void {
    this.#concurrentLists.invalidateAll();
    this.#discardList();
    const first = !this.#synced && this.#held.size === 0;
    this.#list = first ? this.#held : new Map();
    this.#listedUpTo = 0;
  }

  /** Holds `value`, now or when the list that is being filled is complete. */
  put(namespace: string, name: string, value: T): void {
    this.#concurrentLists.recordWatchEvent(namespace, name);
    const before = this.get(namespace, name);
    const unchanged = before !== undefined && this.#options.same(before, value);
    const after = unchanged ? before : value;
    this.#replaced(this.newest(namespace, name), after);
    if (this.#list !== undefined) set(this.#list, namespace, name, after);
    if (this.#fillsAside || unchanged) return;
    set(this.#held, namespace, name, after);
    this.#announce(namespace, name, before, after);
  }

  /** Keeps the held value of an object whose newest state is unusable. */
  keep(namespace: string, name: string): void {
    this.#concurrentLists.recordWatchEvent(namespace, name);
    const before = this.get(namespace, name);
    if (this.#list === undefined || before === undefined) return;
    this.#replaced(this.newest(namespace, name), before);
    set(this.#list, namespace, name, before);
  }

  /** Removes the value of an object, now or when the list that is being filled is complete. */
  delete(namespace: string, name: string): void {
    this.#concurrentLists.recordWatchEvent(namespace, name);
    const before = this.get(namespace, name);
    this.#replaced(this.newest(namespace, name), this.#fillsAside ? before : undefined);
    if (this.#list !== undefined) remove(this.#list, namespace, name);
    if (this.#fillsAside || before === undefined) return;
    remove(this.#held, namespace, name);
    this.#announce(namespace, name, before, undefined);
  }

  /** Completes a list: readers see it from now on. Announces all differences. */
  endList(): void {
    if (this.#list === undefined) return;
    const before = this.#held;
    const after = this.#list;
    this.#held = after;
    this.#list = undefined;
    this.#synced = true;
    this.#syncedUpTo = this.#listedUpTo;
    if (before !== after) this.#announceDifferences(before, after);
  }

  get #fillsAside(): boolean {
    return this.#list !== undefined && this.#list !== this.#held;
  }

  /** Gives up a list that was filled aside and is not complete. */
  #discardList(): void {
    const list = this.#fillsAside ? this.#list : undefined;
    this.#list = undefined;
    for (const [namespace, names] of list ?? []) {
      for (const [name, listed] of names) this.#replaced(listed, this.get(namespace, name));
    }
  }

  #replaced(before: T | undefined, after: T | undefined): void {
    if (before !== after) this.#options.onReplaced?.(before, after);
  }

  #announceDifferences(before: ByName<T>, after: ByName<T>): void {
    for (const [namespace, names] of before) {
      for (const [name, value] of names) {
        if (after.get(namespace)?.get(name) !== undefined) continue;
        this.#replaced(value, undefined);
        this.#announce(namespace, name, value, undefined, true);
      }
    }
    for (const [namespace, names] of after) {
      for (const [name, value] of names) {
        const held = before.get(namespace)?.get(name);
        if (held !== value) this.#announce(namespace, name, held, value, true);
      }
    }
  }

  #announce(
    namespace: string,
    name: string,
    before: T | undefined,
    after: T | undefined,
    initial = this.#list !== undefined,
  ): void {
    this.#options.onChange({ key: `${this.#options.kind}/${namespace}/${name}`, before, after, initial });
  }
}

function set<T>(objects: ByName<T>, namespace: string, name: string, value: T): void {
  const names = objects.get(namespace);
  if (names === undefined) objects.set(namespace, new Map([[name, value]]));
  else names.set(name, value);
}

function remove<T>(objects: ByName<T>, namespace: string, name: string): void {
  const names = objects.get(namespace);
  if (names?.delete(name) && names.size === 0) objects.delete(namespace);
}

/** A list of one namespace that runs while the watch continues. */
interface ConcurrentList {
  /** Reports whether an object may be taken from the list: the watch has sent no event for it and has begun no list since. */
  readonly isNewerThanWatch: (name: string) => boolean;
  readonly end: () => void;
}

/** The lists that run while one watch continues. Events of the watch take precedence over these lists. */
class ConcurrentLists {
  readonly #running = new Set<{ readonly namespace: string; readonly watched: Set<string>; isInvalid: boolean }>();

  begin(namespace: string): ConcurrentList {
    const list = { namespace, watched: new Set<string>(), isInvalid: false };
    this.#running.add(list);
    return {
      isNewerThanWatch: (name) => !(list.isInvalid || list.watched.has(name)),
      end: () => void this.#running.delete(list),
    };
  }

  recordWatchEvent(namespace: string, name: string): void {
    for (const list of this.#running) if (list.namespace === namespace) list.watched.add(name);
  }

  /** Invalidates all lists, because the watch begins to list everything again. */
  invalidateAll(): void {
    for (const list of this.#running) list.isInvalid = true;
  }
}
