import type { KubeObject } from "../../kube/api/resources.ts";
import type { ReflectorEvent } from "../../kube/list-watch/paged-list.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import type { Source, Store } from "./store.ts";

/**
 * Returns what to hold for an object; undefined for nothing. `held` is the newest value for it. Return `held` itself if
 * nothing relevant has changed: that needs no more memory.
 */
type Transform<O extends KubeObject, T> = (object: O, held: T | undefined, source: Source) => T | undefined;

/** Reads, while the watch continues, a part of an object that is stored elsewhere. The cache then holds the complete object. */
export interface Completer<O extends KubeObject, T> {
  /** Reports whether a part of an object has to be read, and queues the read. Until then the cache keeps the held value. */
  readonly enqueue: (object: O, held: T | undefined) => boolean;
  readonly forget: (namespace: string, name: string) => void;
  /** Forgets all objects of a namespace ("" for all), because a new list begins. */
  readonly forgetAll: (namespace: string) => void;
  /** Reads until the signal is aborted and passes each complete object to `put`. Rejects only for a bug. */
  readonly run: (put: (completed: O) => void, signal: AbortSignal) => Promise<void>;
}

/** Connects a list-watch to a store. */
export interface ReflectorOptions<O extends KubeObject, T> {
  /** Kind for log messages, such as "Secret". */
  readonly kind: string;
  readonly events: AsyncIterable<ReflectorEvent<O>>;
  readonly store: Store<T>;
  /** May throw for a malformed object. The message of an `Error` must not contain a value of the object: it is logged. */
  readonly transform: Transform<O, T>;
  /** Undefined if objects are complete as listed. */
  readonly completer?: Completer<O, T> | undefined;
  /** Returns the resourceVersion of a held value. Earlier events are ignored: a list of one namespace may be ahead of the watch. Default: none is. */
  readonly versionOf?: ((value: T) => number) | undefined;
  /** The watched namespace. Default: all. */
  readonly namespace?: string | undefined;
  /** Called each time a list is complete. */
  readonly onSynced?: () => void;
  /** Called each time a list fails before the store is synced, with the reason. */
  readonly onFailed?: (reason: string) => void;
  readonly log: Logger;
}

/** Where an object is applied. */
type Target<O extends KubeObject, T> = Pick<
  ReflectorOptions<O, T>,
  "kind" | "store" | "transform" | "completer" | "log"
>;

/**
 * Applies each event to the store. Objects are transformed at once, so that no object outlives its event. Ends when the
 * events end, and fails as they fail. Logs a malformed object by name and keeps the held value.
 */
export async function runReflector<O extends KubeObject, T>(options: ReflectorOptions<O, T>): Promise<void> {
  const { kind, events, store, completer, namespace = "", onSynced, onFailed, log } = options;
  for await (const event of events) {
    switch (event.type) {
      case "init":
        completer?.forgetAll(namespace);
        store.beginList();
        break;
      case "initDone":
        store.endList();
        onSynced?.();
        break;
      case "initFailed":
        onFailed?.(event.reason);
        break;
      default: {
        const { object } = event;
        store.recordVersion(object.metadata?.resourceVersion);
        const name = nameOf(object);
        if (name === undefined) log.warn(logMessages.objectWithoutName, { kind });
        else if (isBehind(object, name, options)) continue;
        else if (event.type === "delete") remove(name, options);
        else applyOrComplete(object, name, options, store.source);
      }
    }
  }
}

/**
 * Applies a list of one namespace to the store while the watch continues. Returns false if the watch is listing: request
 * the list again later. Rejects as `list` does.
 */
export async function applyConcurrentList<O extends KubeObject, T>(
  namespace: string,
  list: () => AsyncIterable<ReflectorEvent<O>>,
  target: Target<O, T>,
): Promise<boolean> {
  const concurrent = target.store.beginConcurrentList(namespace);
  if (concurrent === undefined) return false;
  try {
    for await (const event of list()) {
      const name = event.type === "initApply" ? nameOf(event.object) : undefined;
      if (event.type !== "initApply" || name?.namespace !== namespace) continue;
      if (concurrent.isNewerThanWatch(name.name)) applyOrComplete(event.object, name, target, "later list");
    }
  } finally {
    concurrent.end();
  }
  return true;
}

interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** Reports whether an event of the watch shows an earlier state than the held one. A list may show one: the storage may be restored. */
function isBehind<O extends KubeObject, T>(
  { metadata }: O,
  { namespace, name }: ObjectName,
  { store, versionOf }: Pick<ReflectorOptions<O, T>, "store" | "versionOf">,
): boolean {
  const held = store.source === "watch" ? store.get(namespace, name) : undefined;
  return held !== undefined && versionOf !== undefined && Number(metadata.resourceVersion) < versionOf(held);
}

function remove<O extends KubeObject, T>(
  { namespace, name }: ObjectName,
  { store, completer }: Pick<ReflectorOptions<O, T>, "store" | "completer">,
): void {
  completer?.forget(namespace, name);
  store.delete(namespace, name);
}

function applyOrComplete<O extends KubeObject, T>(
  object: O,
  name: ObjectName,
  target: Target<O, T>,
  source: Source,
): void {
  const { store, completer } = target;
  if (completer?.enqueue(object, store.get(name.namespace, name.name))) store.keep(name.namespace, name.name);
  else apply(object, name, target, source);
}

/** Applies an object that a {@link Completer} has completed. */
export function applyCompleted<O extends KubeObject, T>(object: O, target: Target<O, T>): void {
  const name = nameOf(object);
  if (name !== undefined) apply(object, name, target, "later list");
}

function apply<O extends KubeObject, T>(
  object: O,
  { namespace, name }: ObjectName,
  { kind, store, transform, log }: Target<O, T>,
  source: Source,
): void {
  let value: T | undefined;
  try {
    value = transform(object, store.newest(namespace, name), source);
  } catch (error) {
    store.keep(namespace, name);
    log.warn(logMessages.malformedObject, { kind, namespace, name, error: safeErrorText(error) });
    return;
  }
  if (value === undefined) store.delete(namespace, name);
  else store.put(namespace, name, value);
}

/** Returns the name of an object as a server sent it: nothing has checked its type before. */
function nameOf(object: { readonly metadata?: Partial<KubeObject["metadata"]> }): ObjectName | undefined {
  const { namespace = "", name } = object.metadata ?? {};
  return typeof name === "string" && typeof namespace === "string" ? { namespace, name } : undefined;
}

/** Returns only the class of a runtime error: its message may quote input, for example a value of a Secret. */
function safeErrorText(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return error.constructor === Error ? error.message : error.name;
}

/** A condition that becomes true once, such as "synced", and that many callers can wait for. */
export class SyncGate {
  readonly #opened = Promise.withResolvers<void>();
  #isOpen = false;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    this.#opened.resolve();
  }

  /** Resolves when the gate is open. Rejects with the signal's reason if the signal is aborted first. */
  async opened(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => aborted.reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([this.#opened.promise, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}
