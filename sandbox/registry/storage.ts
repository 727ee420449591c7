import type { ApiObject } from "../objects/object.ts";
import type { SandboxResource } from "../objects/resources.ts";

/** One write as it happened: created (no `before`), changed, or deleted (no `after`). */
export interface StorageEvent {
  readonly revision: number;
  readonly resource: SandboxResource;
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
}

/** Receives every write, in order, at once. */
export type StorageListener = (event: StorageEvent) => void;

interface Table {
  readonly objects: Map<string, ApiObject>;
  /** Keys in the order that lists come in; undefined where a key came or went since. */
  sortedKeys: readonly string[] | undefined;
}

/** What a key sorts and is found by: the namespace first, as in etcd. */
function storageKey(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Returns the storage key of an object. */
export function keyOf({ metadata }: ApiObject): string {
  return storageKey(metadata.namespace, metadata.name);
}

/**
 * Objects in memory with one global revision that every write raises by one, and the last writes as history, like etcd
 * behind a real API server. What is stored is never changed in place.
 */
export class Storage {
  readonly #tables = new Map<SandboxResource, Table>();
  readonly #listeners = new Set<StorageListener>();
  readonly #historySize: number;
  #history: StorageEvent[] = [];
  #revision = 1;
  #forgotten = 0;

  constructor(historySize: number) {
    this.#historySize = historySize;
  }

  /** The revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  /** The revision of the last write that history has lost; what came after it is still known. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** The object as it is stored; undefined where there is none. */
  get(resource: SandboxResource, namespace: string | undefined, name: string): ApiObject | undefined {
    return this.#table(resource).objects.get(storageKey(namespace, name));
  }

  /** Every object of a kind, in one namespace or in all, by namespace and name. */
  list(resource: SandboxResource, namespace?: string): ApiObject[] {
    const table = this.#table(resource);
    table.sortedKeys ??= [...table.objects.keys()].sort();
    const found: ApiObject[] = [];
    for (const key of table.sortedKeys) {
      const object = table.objects.get(key);
      if (object !== undefined && inNamespace(object, namespace)) found.push(object);
    }
    return found;
  }

  /** What `list` gave at an earlier revision; undefined where history no longer reaches that far. */
  listAt(revision: number, resource: SandboxResource, namespace?: string): ApiObject[] | undefined {
    if (revision < this.#forgotten) return undefined;
    const objects = new Map(this.list(resource, namespace).map((object) => [keyOf(object), object]));
    for (const event of this.since(revision).reverse()) {
      const object = event.before ?? event.after;
      if (event.resource !== resource || object === undefined || !inNamespace(object, namespace)) continue;
      if (event.before === undefined) objects.delete(keyOf(object));
      else objects.set(keyOf(object), event.before);
    }
    return [...objects.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Every write after a revision that history still has, oldest first. */
  since(revision: number): StorageEvent[] {
    let first = this.#history.length;
    while (first > 0 && (this.#history[first - 1]?.revision ?? 0) > revision) first--;
    return this.#history.slice(first);
  }

  /** Stores the object under the next revision, which becomes its resourceVersion, and returns it as stored. */
  put(resource: SandboxResource, object: ApiObject): ApiObject {
    const table = this.#table(resource);
    const stored = withResourceVersion(object, this.#revision + 1);
    const key = keyOf(stored);
    const before = table.objects.get(key);
    if (before === undefined) table.sortedKeys = undefined;
    table.objects.set(key, stored);
    this.#append({ revision: this.#revision + 1, resource, before, after: stored });
    return stored;
  }

  /** Deletes the object, if it is there. */
  remove(resource: SandboxResource, namespace: string | undefined, name: string): void {
    const table = this.#table(resource);
    const before = table.objects.get(storageKey(namespace, name));
    if (before === undefined) return;
    table.objects.delete(storageKey(namespace, name));
    table.sortedKeys = undefined;
    this.#append({ revision: this.#revision + 1, resource, before, after: undefined });
  }

  /** Calls `listener` for every write from now on, until the returned function is called. */
  subscribe(listener: StorageListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets all history, as a compaction does: a client that resumes from before now gets 410. */
  expireHistory(): void {
    // A revision of its own, so that even a client that has seen everything is too old.
    this.#revision += 1;
    this.#history = [];
    this.#forgotten = this.#revision;
  }

  #append(event: StorageEvent): void {
    this.#revision = event.revision;
    this.#history.push(event);
    const lost = this.#history.at(-1 - this.#historySize);
    if (lost !== undefined) this.#forgotten = lost.revision;
    // Cut in batches, so that a write does not cost what history holds.
    if (this.#history.length > 2 * this.#historySize + 16) this.#history = this.#history.slice(-this.#historySize);
    for (const listener of [...this.#listeners]) listener(event);
  }

  #table(resource: SandboxResource): Table {
    let table = this.#tables.get(resource);
    if (table === undefined) {
      table = { objects: new Map(), sortedKeys: undefined };
      this.#tables.set(resource, table);
    }
    return table;
  }
}

function inNamespace({ metadata }: ApiObject, namespace: string | undefined): boolean {
  return namespace === undefined || metadata.namespace === namespace;
}

/** Returns the object with another resourceVersion. */
export function withResourceVersion(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
