import type { KubeObject } from "../../kube/api/api-types.ts";
import type { ReflectorEvent } from "../../kube/list-watch/watch-context.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { Store } from "./store.ts";

/**
 * What to hold of an object, where `held` is held of it now; undefined for nothing. Returns `held` itself where nothing
 * that matters has changed: that costs nothing more.
 */
export type Transform<O extends KubeObject, T> = (object: O, held: T | undefined) => T | undefined;

/**
 * Reads, beside the watch, what belongs to an object but is stored elsewhere; then the object is held together with
 * that.
 */
export interface Completing<O extends KubeObject, T> {
  /** Whether something is to be read of an object, which is then done; what is held stays until then. */
  readonly takes: (object: O, held: T | undefined) => boolean;
  /** Forgets an object that is gone. */
  readonly drop: (namespace: string, name: string) => void;
  /** Forgets all of a namespace, "" for all: a list tells anew what there is. */
  readonly dropAll: (namespace: string) => void;
  /** Reads until the signal; `put` is told of each object that is whole. Rejects only for a bug. */
  readonly run: (put: (whole: O) => void, signal: AbortSignal) => Promise<void>;
}

/** What a reflector joins. */
export interface ReflectorOptions<O extends KubeObject, T> {
  /** For messages, as in "Secret". */
  readonly kind: string;
  readonly events: AsyncIterable<ReflectorEvent<O>>;
  readonly store: Store<T>;
  /**
   * It may throw for a malformed object; an `Error` that it throws
   * itself must name no value of the object, because its message is logged.
   */
  readonly transform: Transform<O, T>;
  /** Undefined: nothing stands elsewhere. */
  readonly completing?: Completing<O, T> | undefined;
  /** Which namespace is watched; default: all. */
  readonly namespace?: string;
  /** Called each time that a list is complete. */
  readonly onSynced?: () => void;
  /** Called each time that a list failed before anything was known, with why. */
  readonly onFailed?: (why: string) => void;
  readonly log: Logger;
}

/**
 * Carries each event into the store, transformed at once, so that nothing of the object outlives its event.
 * Ends when the events end, and fails as they fail. A malformed object is logged by name and otherwise ignored: what the
 * store holds of it stays.
 */
export async function runReflector<O extends KubeObject, T>(options: ReflectorOptions<O, T>): Promise<void> {
  const { kind, events, store, completing, namespace = "", onSynced, onFailed, log } = options;
  for await (const event of events) {
    switch (event.type) {
      case "init":
        completing?.dropAll(namespace);
        store.beginList();
        break;
      case "initDone":
        store.endList();
        onSynced?.();
        break;
      case "initFailed":
        onFailed?.(event.why);
        break;
      default: {
        const { object } = event;
        store.heard(object.metadata?.resourceVersion);
        const name = nameOf(object);
        if (name === undefined) log.warn("ignored an object without a name", { kind });
        else if (event.type === "delete") remove(name, options);
        else take(object, name, options);
      }
    }
  }
}

/**
 * Carries a list of one namespace into the store beside the watch. Returns false where it has to be asked for again, because
 * the watch is just listing. Rejects as `list` does.
 */
export async function takeBeside<O extends KubeObject, T>(
  namespace: string,
  list: () => AsyncIterable<ReflectorEvent<O>>,
  options: Pick<ReflectorOptions<O, T>, "kind" | "store" | "transform" | "completing" | "log">,
): Promise<boolean> {
  const beside = options.store.beside(namespace);
  if (beside === undefined) return false;
  try {
    for await (const event of list()) {
      const name = event.type === "initApply" ? nameOf(event.object) : undefined;
      if (event.type !== "initApply" || name?.namespace !== namespace) continue;
      if (beside.isNews(name.name)) take(event.object, name, options);
    }
  } finally {
    beside.end();
  }
  return true;
}

interface Name {
  readonly namespace: string;
  readonly name: string;
}

function remove<O extends KubeObject, T>(
  { namespace, name }: Name,
  { store, completing }: Pick<ReflectorOptions<O, T>, "store" | "completing">,
): void {
  completing?.drop(namespace, name);
  store.delete(namespace, name);
}

function take<O extends KubeObject, T>(
  object: O,
  name: Name,
  options: Pick<ReflectorOptions<O, T>, "kind" | "store" | "transform" | "completing" | "log">,
): void {
  const { store, completing } = options;
  if (completing?.takes(object, store.get(name.namespace, name.name))) store.keep(name.namespace, name.name);
  else apply(object, name, options);
}

/** Holds an object that was read whole, whose name is known. */
export function takeWhole<O extends KubeObject, T>(
  object: O,
  options: Pick<ReflectorOptions<O, T>, "kind" | "store" | "transform" | "log">,
): void {
  const name = nameOf(object);
  if (name !== undefined) apply(object, name, options);
}

function apply<O extends KubeObject, T>(
  object: O,
  { namespace, name }: Name,
  options: Pick<ReflectorOptions<O, T>, "kind" | "store" | "transform" | "log">,
): void {
  const { kind, store, transform, log } = options;
  let value: T | undefined;
  try {
    value = transform(object, store.get(namespace, name));
  } catch (error) {
    store.keep(namespace, name);
    log.warn("ignored a malformed object", { kind, namespace, name, error: describe(error) });
    return;
  }
  if (value === undefined) store.delete(namespace, name);
  else store.put(namespace, name, value);
}

/** Looks before it trusts the type: what a server sends is not checked until here. */
function nameOf(object: { readonly metadata?: Partial<KubeObject["metadata"]> }): Name | undefined {
  const { namespace = "", name } = object.metadata ?? {};
  return typeof name === "string" && typeof namespace === "string" ? { namespace, name } : undefined;
}

/** A message of the run-time's own may quote what it stumbled over, a Secret's value for example: then only its class. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return error.constructor === Error ? error.message : error.name;
}
