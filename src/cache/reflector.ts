import type { KubeObject } from "../kube/api-types.ts";
import type { ReflectorEvent } from "../kube/watch-context.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Store } from "./store.ts";

/**
 * What to hold of an object of which `held` is held now; undefined for nothing. `held` itself where nothing that matters
 * has changed, which then costs nothing more.
 */
export type Transform<O extends KubeObject, T> = (object: O, held: T | undefined) => T | undefined;

/**
 * Reads what belongs to an object and stands elsewhere, where there is such a thing: the object with that is then held. Undefined where
 * there is nothing to read.
 */
export type Completing<O extends KubeObject, T> = (object: O, held: T | undefined) => Promise<O> | undefined;

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
  const { kind, events, store, onSynced, onFailed, log } = options;
  for await (const event of events) {
    switch (event.type) {
      case "init":
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
        const name = nameOf(event.object);
        const more = event.type === "delete" ? undefined : elsewhere(event.object, name, options);
        const object = more === undefined ? event.object : await more;
        store.heard(object.metadata?.resourceVersion);
        if (name === undefined) log.warn("ignored an object without a name", { kind });
        else if (event.type === "delete") store.delete(name.namespace, name.name);
        else apply(object, name, options);
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
      const more = elsewhere(event.object, name, options);
      const object = more === undefined ? event.object : await more;
      if (beside.isNews(name.name)) apply(object, name, options);
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

function elsewhere<O extends KubeObject, T>(
  object: O,
  name: Name | undefined,
  { store, completing }: Pick<ReflectorOptions<O, T>, "store" | "completing">,
): Promise<O> | undefined {
  return name && completing?.(object, store.get(name.namespace, name.name));
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
