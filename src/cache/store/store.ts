import { type Beside, BesideLists } from "./beside-lists.ts";

/** A difference between what a store held and what it holds. Neither side is there for what the store never keeps. */
export interface StoreChange<T> {
  /** `Kind/namespace/name`. */
  readonly key: string;
  /** What the store held; undefined where it held nothing. */
  readonly before: T | undefined;
  /** What it holds now; undefined where the object is gone. */
  readonly after: T | undefined;
  /** Whether a list brought this (at the start, or after a gap in the watch) rather than a single event. */
  readonly initial: boolean;
}

/** What a store is made from. */
export interface StoreOptions<T> {
  /** The kind of the objects, for the keys of changes. */
  readonly kind: string;
  /** Whether two values of one object are the same to all readers. */
  readonly same: (a: T, b: T) => boolean;
  /** Told of each difference, after the store holds it. */
  readonly onChange: (change: StoreChange<T>) => void;
}

/** Two levels, because a key of its own for each of tens of thousands of objects would cost more than the maps. */
type ByName<T> = Map<string, Map<string, T>>;

/**
 * The values of all objects that one reflector sees. Anybody may read; only the reflector writes.
 *
 * A list is filled aside and swapped in when it is complete: until then readers see what was there before. Only the very
 * first list, before which there is nothing to see, is filled in place. A value that is the same as the one held is
 * dropped, so that the held one keeps its identity, and is no change.
 */
export class Store<T> {
  readonly #options: StoreOptions<T>;
  #held: ByName<T> = new Map();
  /** The list that is being filled; `#held` itself when in place, undefined between lists. */
  #list: ByName<T> | undefined;
  #synced = false;
  #heardUpTo = 0;
  /** Of what the list that is being filled has brought. */
  #listedUpTo = 0;
  readonly #besides = new BesideLists();

  constructor(options: StoreOptions<T>) {
    this.#options = options;
  }

  /** Whether a first list was completed. Before that, what is missing here may exist all the same. */
  get synced(): boolean {
    return this.#synced;
  }

  /**
   * The resourceVersion of the last event, or the highest of the last list: nothing that happened before it is still to be
   * heard of. A list may set it back, as where the server's storage was restored from an earlier day, and so may a watch
   * that tells again what it told before: the store then holds what was, until it has caught up.
   */
  get heardUpTo(): number {
    return this.#heardUpTo;
  }

  /** Notes of what resourceVersion an event was. What a list brings counts when it is complete. */
  heard(resourceVersion: unknown): void {
    const version = Number(resourceVersion);
    if (this.#list !== undefined) this.#listedUpTo = Math.max(this.#listedUpTo, version || 0);
    else if (version > 0) this.#heardUpTo = version;
  }

  /** How many objects are held. */
  get size(): number {
    return this.#held.values().reduce((sum, names) => sum + names.size, 0);
  }

  /** The value of an object; `namespace` is "" where the kind has none. */
  get(namespace: string, name: string): T | undefined {
    return this.#held.get(namespace)?.get(name);
  }

  /** Every value, in no order that means anything. */
  values(): IteratorObject<T> {
    return this.#held.values().flatMap((names) => names.values());
  }

  /** Every value in a namespace. */
  valuesIn(namespace: string): Iterable<T> {
    return this.#held.get(namespace)?.values() ?? [];
  }

  /**
   * Begins to take in a list of one namespace that is asked for after this, beside the watch. Nothing is set back by it but
   * what the watch is behind with: what the watch tells meanwhile counts, and a list of its own, which begins after this one,
   * makes it void. Undefined where such a list is under way, or was never begun.
   */
  beside(namespace: string): Beside | undefined {
    return this.#synced && this.#list === undefined ? this.#besides.begin(namespace) : undefined;
  }

  /** Starts a list; what an unfinished one before it brought is void. */
  beginList(): void {
    this.#besides.makeVoid();
    const first = !this.#synced && this.#held.size === 0;
    this.#list = first ? this.#held : new Map();
    this.#listedUpTo = 0;
  }

  /** Holds `value`, now or when the list that is being filled is complete. */
  put(namespace: string, name: string, value: T): void {
    this.#besides.told(namespace, name);
    const before = this.get(namespace, name);
    const unchanged = before !== undefined && this.#options.same(before, value);
    const after = unchanged ? before : value;
    if (this.#list !== undefined) set(this.#list, namespace, name, after);
    if (this.#fillsAside || unchanged) return;
    set(this.#held, namespace, name, after);
    this.#announce(namespace, name, before, after);
  }

  /** Holds what it held of an object of which nothing good is known now. */
  keep(namespace: string, name: string): void {
    this.#besides.told(namespace, name);
    const before = this.get(namespace, name);
    if (this.#list !== undefined && before !== undefined) set(this.#list, namespace, name, before);
  }

  /** Holds nothing of an object any more. */
  delete(namespace: string, name: string): void {
    this.#besides.told(namespace, name);
    const before = this.get(namespace, name);
    if (this.#list !== undefined) remove(this.#list, namespace, name);
    if (this.#fillsAside || before === undefined) return;
    remove(this.#held, namespace, name);
    this.#announce(namespace, name, before, undefined);
  }

  /** Completes a list: readers see it from now on, and all differences at once. */
  endList(): void {
    if (this.#list === undefined) return;
    const before = this.#held;
    const after = this.#list;
    this.#held = after;
    this.#list = undefined;
    this.#synced = true;
    this.#heardUpTo = this.#listedUpTo;
    if (before !== after) this.#announceDifferences(before, after);
  }

  get #fillsAside(): boolean {
    return this.#list !== undefined && this.#list !== this.#held;
  }

  #announceDifferences(before: ByName<T>, after: ByName<T>): void {
    for (const [namespace, names] of before) {
      for (const [name, value] of names) {
        if (after.get(namespace)?.get(name) === undefined) this.#announce(namespace, name, value, undefined, true);
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
