/** This folder holds the objects of one kind in memory: list-watch → reflector → store. It knows no kind of workload. */

import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import type { RequestedKind } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import type { ListWatchOptions, ReflectorEvent } from "../../kube/list-watch/paged-list.ts";
import { applyCompleted, applyConcurrentList, type ReflectorOptions, runReflector } from "./reflector.ts";
import { Store, type StoreOptions } from "./store.ts";

/**
 * Reads the stored object with the pod template of its template source. Resolves to undefined if the object is gone.
 * Rejects if it cannot be read.
 */
export type ReadTemplate = (
  row: WorkloadRow,
  name: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
) => Promise<(KubeObject & WorkloadObject) | undefined>;

/** What a reflector watches. */
export type WatchTarget = Pick<
  ListWatchOptions,
  "resource" | "namespace" | "fieldSelector" | "digestsOf" | "shouldRelist" | "mayBeAbsent"
>;

/** Lists and watches until `signal` is aborted. */
export type Watch = <O extends KubeObject>(
  target: WatchTarget,
  signal: AbortSignal,
) => AsyncIterable<ReflectorEvent<O>>;

/** Lists the objects of a kind in one namespace once. Rejects if it cannot. */
export type ListNamespace = <O extends KubeObject>(
  target: Pick<WatchTarget, "resource" | "digestsOf"> & { readonly namespace: string },
  signal: AbortSignal,
) => AsyncIterable<ReflectorEvent<O>>;

/** Where caches receive objects from. */
export interface CacheSource {
  readonly watch: Watch;
  readonly list: ListNamespace;
  /** Finds a kind of workload. Undefined: only built-in kinds are known. */
  readonly find?: FindKind;
  /** Undefined: no workload borrows a pod template. */
  readonly readTemplate?: ReadTemplate;
}

/** Resolves to the row of a kind; undefined if the API server does not serve the kind. Rejects if that is unknown. */
export type FindKind = (kind: RequestedKind, signal: AbortSignal) => Promise<WorkloadRow | undefined>;

/** A kind of object, and what to hold for each object. */
interface KindCacheOptions<O extends KubeObject, T>
  extends Omit<StoreOptions<T>, "kind">,
    Omit<WatchTarget, "namespace">,
    Pick<ReflectorOptions<O, T>, "transform" | "completer" | "versionOf" | "log"> {
  /** Name of the kind in keys and log messages. Default: the kind of the resource. */
  readonly kind?: string;
  /** Undefined: all. Otherwise each namespace has its own reflector, and Wave needs no permission elsewhere. */
  readonly namespaces: readonly string[] | undefined;
}

/** Receives the results of the lists of a kind. The namespace is "" if one list has all namespaces. */
export interface ListListener {
  /** A list is complete. */
  readonly listed: (namespace: string) => void;
  /** A list failed before the namespace was synced. */
  readonly failed: (namespace: string, reason: string) => void;
}

/** All objects of one kind: one store for each watched namespace, or one store for all namespaces. */
export class KindCache<O extends KubeObject, T> {
  readonly kind: string;
  readonly #options: KindCacheOptions<O, T>;
  /** By namespace. The key "" is the store for all namespaces. */
  readonly #stores: ReadonlyMap<string, Store<T>>;

  constructor(options: KindCacheOptions<O, T>) {
    this.kind = options.kind ?? options.resource.kind;
    this.#options = options;
    const { same, onChange, onReplaced } = options;
    const stores = (options.namespaces ?? [""]).map((namespace) => {
      return [namespace, new Store<T>({ kind: this.kind, same, onChange, onReplaced })] as const;
    });
    this.#stores = new Map(stores);
  }

  get size(): number {
    return this.#stores.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** Returns the value of an object; undefined if the object is unknown or its namespace is not watched. */
  get(namespace: string, name: string): T | undefined {
    return this.#storeOf(namespace)?.get(namespace, name);
  }

  /** See {@link Store.syncedUpTo}. Returns 0 if the namespace is not watched. */
  syncedUpTo(namespace: string): number {
    return this.#storeOf(namespace)?.syncedUpTo ?? 0;
  }

  /** Returns the number of values in one namespace; 0 if it is not watched. */
  countIn(namespace: string): number {
    return this.#storeOf(namespace)?.countIn(namespace) ?? 0;
  }

  values(): IteratorObject<T> {
    return this.#stores.values().flatMap((store) => store.values());
  }

  /** Returns all values in one namespace; nothing if it is not watched. */
  valuesIn(namespace: string): Iterable<T> {
    return this.#storeOf(namespace)?.valuesIn(namespace) ?? [];
  }

  /** Lists one namespace again, because the cache now holds more of its objects. See {@link applyConcurrentList}. */
  async relist(namespace: string, list: ListNamespace, signal: AbortSignal): Promise<boolean> {
    const store = this.#storeOf(namespace);
    if (store === undefined) return true;
    const { resource, digestsOf } = this.#options;
    const listed = () => list<O>({ resource, digestsOf, namespace }, signal);
    return applyConcurrentList(namespace, listed, { ...this.#options, kind: this.kind, store });
  }

  /** Reports whether the first list of a namespace is complete. */
  isListed(namespace: string): boolean {
    return this.#storeOf(namespace)?.synced ?? false;
  }

  /** Removes and announces all values. For a kind that no longer exists, after its reflectors have ended. */
  clear(): void {
    for (const store of this.#stores.values()) {
      store.beginList();
      store.endList();
    }
  }

  /** Starts the reflectors and the completer. Each promise resolves when the signal is aborted. */
  run(watch: Watch, signal: AbortSignal, { listed, failed }: ListListener): Promise<void>[] {
    const { resource, fieldSelector, digestsOf, shouldRelist, mayBeAbsent, completer, log } = this.#options;
    const reflectors = Array.from(this.#stores, ([name, store]) => {
      const namespace = name || undefined;
      return runReflector({
        ...this.#options,
        kind: this.kind,
        events: watch<O>({ resource, namespace, fieldSelector, digestsOf, shouldRelist, mayBeAbsent }, signal),
        store,
        namespace,
        onSynced: () => {
          log.debug("list complete", { kind: this.kind, namespace, objects: store.size });
          listed(name);
        },
        onFailed: (reason) => failed(name, reason),
      });
    });
    if (completer === undefined) return reflectors;
    const put = (completed: O) => {
      const store = this.#storeOf(completed.metadata.namespace ?? "");
      if (store !== undefined) applyCompleted(completed, { ...this.#options, kind: this.kind, store });
    };
    return [...reflectors, completer.run(put, signal)];
  }

  #storeOf(namespace: string): Store<T> | undefined {
    return this.#stores.get("") ?? this.#stores.get(namespace);
  }
}
