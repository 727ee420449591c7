import type { WantedKind } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadRow } from "../../domain/model/workload.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import type { Resource } from "../../kube/api/resources.ts";
import type { ReflectorEvent } from "../../kube/list-watch/watch-context.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { ReadTemplate } from "./read-template.ts";
import { type Completing, runReflector, type Transform, takeBeside, takeWhole } from "./reflector.ts";
import { Store, type StoreOptions } from "./store.ts";

/** What a reflector watches. */
export interface Watched {
  readonly resource: Resource;
  /** All namespaces where it is absent. */
  readonly namespace?: string;
  readonly fieldSelector?: string;
  /** See {@link ListWatchOptions.listAgain}. */
  readonly listAgain?: () => boolean;
  /** See {@link ListWatchOptions.mayBeAbsent}. */
  readonly mayBeAbsent?: boolean;
}

/** Lists and watches for ever; ends when `signal` is aborted. */
export type Watch = <O extends KubeObject>(what: Watched, signal: AbortSignal) => AsyncIterable<ReflectorEvent<O>>;

/** Tells once what there is of a kind in one namespace; rejects where it cannot. */
export type ListNamespace = <O extends KubeObject>(
  what: { readonly resource: Resource; readonly namespace: string },
  signal: AbortSignal,
) => AsyncIterable<ReflectorEvent<O>>;

/** Where caches hear of objects from. */
export interface Source {
  readonly watch: Watch;
  readonly list: ListNamespace;
  /** Finds a kind of workload; undefined: none but the built-in ones can be found. */
  readonly find?: FindKind;
  /** Undefined: no workload borrows a pod template. */
  readonly readTemplate?: ReadTemplate;
}

/** The row of a kind where the API server serves it, undefined where it does not; rejects where that cannot be told. */
export type FindKind = (kind: WantedKind, signal: AbortSignal) => Promise<WorkloadRow | undefined>;

/** A kind of object and what is held of it. */
export interface KindCacheOptions<O extends KubeObject, T> extends Omit<StoreOptions<T>, "kind"> {
  /** What keys and messages call it; undefined: its own name. */
  readonly kind?: string;
  readonly resource: Resource;
  readonly fieldSelector?: string;
  /** Undefined for all; else each has a reflector of its own, and no permission is needed elsewhere. */
  readonly namespaces: readonly string[] | undefined;
  /** See {@link runReflector}. */
  readonly transform: Transform<O, T>;
  /** See {@link ReflectorOptions.completing}. */
  readonly completing?: Completing<O, T> | undefined;
  /** See {@link Watched.listAgain}. */
  readonly listAgain: () => boolean;
  /** See {@link Watched.mayBeAbsent}. */
  readonly mayBeAbsent?: boolean;
  readonly log: Logger;
}

/** Told of the lists of a kind; the namespace is "" where all are watched at once. */
export interface ListListener {
  /** A list is complete. */
  readonly listed: (namespace: string) => void;
  /** Nothing is known there, and the list failed. */
  readonly failed: (namespace: string, why: string) => void;
}

/** All objects of one kind: a store for each namespace that is watched, or one for all. */
export class KindCache<O extends KubeObject, T> {
  readonly kind: string;
  readonly #options: KindCacheOptions<O, T>;
  /** By namespace; under "" the one store for all. */
  readonly #stores: ReadonlyMap<string, Store<T>>;

  constructor(options: KindCacheOptions<O, T>) {
    this.kind = options.kind ?? options.resource.kind;
    this.#options = options;
    const { same, onChange } = options;
    const stores = (options.namespaces ?? [""]).map((namespace) => {
      return [namespace, new Store<T>({ kind: this.kind, same, onChange })] as const;
    });
    this.#stores = new Map(stores);
  }

  /** How many objects are kept, in all namespaces. */
  get size(): number {
    return this.#stores.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** What is kept of an object; undefined where it is not there, or its namespace is not watched. */
  get(namespace: string, name: string): T | undefined {
    return (this.#stores.get("") ?? this.#stores.get(namespace))?.get(namespace, name);
  }

  /** See {@link Store.heardUpTo}; 0 where nothing is watched. */
  heardUpTo(namespace: string): number {
    return (this.#stores.get("") ?? this.#stores.get(namespace))?.heardUpTo ?? 0;
  }

  /** What is kept, in all namespaces. */
  values(): IteratorObject<T> {
    return this.#stores.values().flatMap((store) => store.values());
  }

  /** What is kept in one namespace; nothing where it is not watched. */
  valuesIn(namespace: string): Iterable<T> {
    return (this.#stores.get("") ?? this.#stores.get(namespace))?.valuesIn(namespace) ?? [];
  }

  /**
   * Takes in again what there is in one namespace, because by now something else is to be held of it; see {@link takeBeside}.
   */
  async listAgain(namespace: string, list: ListNamespace, signal: AbortSignal): Promise<boolean> {
    const store = this.#stores.get("") ?? this.#stores.get(namespace);
    if (store === undefined) return true;
    const { resource, transform, completing, log } = this.#options;
    const listed = () => list<O>({ resource, namespace }, signal);
    return takeBeside(namespace, listed, { kind: this.kind, store, transform, completing, log });
  }

  /** Whether the objects of a namespace were listed once. */
  isListed(namespace: string): boolean {
    return (this.#stores.get("") ?? this.#stores.get(namespace))?.synced ?? false;
  }

  /** Holds nothing any more, of which all are told: for a kind that no longer exists, when its reflectors have ended. */
  clear(): void {
    for (const store of this.#stores.values()) {
      store.beginList();
      store.endList();
    }
  }

  /** The runs of its reflectors and of what reads beside them, each of which ends with the signal. */
  run(watch: Watch, signal: AbortSignal, { listed, failed }: ListListener): Promise<void>[] {
    const { resource, fieldSelector, transform, completing, listAgain, mayBeAbsent = false, log } = this.#options;
    const reflectors = Array.from(this.#stores, ([name, store]) => {
      const namespace = name === "" ? {} : { namespace: name };
      const selector = fieldSelector === undefined ? {} : { fieldSelector };
      const events = watch<O>({ resource, ...namespace, ...selector, listAgain, mayBeAbsent }, signal);
      return runReflector({
        kind: this.kind,
        events,
        store,
        transform,
        completing,
        ...namespace,
        log,
        onSynced: () => {
          log.debug("list complete", { kind: this.kind, ...namespace, objects: store.size });
          listed(name);
        },
        onFailed: (why) => failed(name, why),
      });
    });
    if (completing === undefined) return reflectors;
    const put = (whole: O) => {
      const store = this.#stores.get("") ?? this.#stores.get(whole.metadata.namespace ?? "");
      if (store !== undefined) takeWhole(whole, { kind: this.kind, store, transform, log });
    };
    return [...reflectors, completing.run(put, signal)];
  }
}
