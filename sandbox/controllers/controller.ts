import { sameJson } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import type { SandboxResource } from "../objects/resources.ts";
import { StatusError } from "../objects/status-error.ts";
import { type Registry, update, type WriteOptions } from "../registry/registry.ts";
import type { StorageEvent } from "../registry/storage.ts";
import type { Clock } from "../time/clock.ts";
import type { OwnerIndex } from "./owner-index.ts";

/** What controllers work on: the registry, and who owns what. */
export interface ControllerRegistry extends Registry {
  readonly owners: OwnerIndex;
}

/** A controller: brings one object nearer to what its spec says, whenever something it depends on was written. */
export interface Controller {
  /** The keys, `namespace/name`, of the objects that a write concerns. */
  readonly concerned: (event: StorageEvent) => readonly string[];
  /** One step for one object; it runs again after every write that concerns it. */
  readonly sync: (key: string) => void;
}

/** What a controller calls itself in managedFields. */
export const controllerManager: WriteOptions = {
  fieldManager: "kube-controller-manager",
  dryRun: false,
  strict: false,
  warn: () => {},
};

/** The kubelet's and scheduler's writes. */
export const kubelet: WriteOptions = { ...controllerManager, fieldManager: "kubelet" };

/**
 * Runs controllers on every write, each key once however often it was concerned; the returned function stops them. `delayMs` returns how late
 * they see the next write, in milliseconds.
 */
export function runControllers(
  registry: Registry,
  controllers: readonly Controller[],
  delayMs: () => number,
): () => void {
  const due = new Map<string, () => void>();
  let cancel: (() => void) | undefined;
  const drain = () => {
    cancel = undefined;
    const syncs = [...due.values()];
    due.clear();
    for (const sync of syncs) syncOnce(sync);
  };
  const unsubscribe = registry.storage.subscribe((event) => {
    controllers.forEach((controller, index) => {
      for (const key of controller.concerned(event)) due.set(`${index}/${key}`, () => controller.sync(key));
    });
    if (due.size > 0) cancel ??= registry.clock.timer(delayMs(), drain);
  });
  return () => {
    unsubscribe();
    cancel?.();
  };
}

/** A write that the rules refuse, as in a namespace that is being deleted, waits for the next write that concerns it. */
function syncOnce(sync: () => void): void {
  try {
    sync();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
  }
}

/** Returns the key of an object: `namespace/name`, or `/name` if the object has no namespace. */
export function objectKey({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

/** Returns the object of a key; undefined if the object does not exist or is being deleted. */
export function liveObject(registry: Registry, resource: SandboxResource, key: string): ApiObject | undefined {
  const object = objectOfKey(registry, resource, key);
  return object?.metadata.deletionTimestamp === undefined ? object : undefined;
}

/** Returns the object of a key, also if the object is being deleted; undefined if the object does not exist. */
export function objectOfKey(registry: Registry, resource: SandboxResource, key: string): ApiObject | undefined {
  const [namespace = "", name = ""] = key.split("/");
  return registry.storage.get(resource, namespace === "" ? undefined : namespace, name);
}

/**
 * Returns a function that lists the keys that a write concerns: the key of an object of `resource` itself, and for an object of
 * `owned` the key of the `resource` that controls the object.
 */
export function selfOrOwner(resource: SandboxResource, owned: SandboxResource): Controller["concerned"] {
  return (event) => {
    const object = event.after ?? event.before;
    if (object === undefined) return [];
    if (event.resource === resource) return [objectKey(object)];
    if (event.resource !== owned) return [];
    const owner = object.metadata.ownerReferences?.find(({ controller }) => controller === true);
    return owner?.kind === resource.kind ? [`${object.metadata.namespace ?? ""}/${owner.name}`] : [];
  };
}

/** Returns the objects of a kind that `owner` controls, in no particular order. */
export function controlledBy(registry: ControllerRegistry, owner: ApiObject, resource: SandboxResource): ApiObject[] {
  return registry.owners.dependents(owner.metadata.uid).flatMap((place) => {
    if (place.resource !== resource) return [];
    const object = registry.storage.get(resource, place.namespace, place.name);
    const reference = object?.metadata.ownerReferences?.find(({ uid }) => uid === owner.metadata.uid);
    return object !== undefined && reference?.controller === true ? [object] : [];
  });
}

/** Returns the owner references of an object that `owner` controls. */
export function controllerReference(owner: ApiObject): ApiObject["metadata"]["ownerReferences"] {
  const { apiVersion, kind, metadata } = owner;
  return [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }];
}

/** Writes the status of an object; does nothing if the status is the same. */
export function writeStatus(
  registry: Registry,
  resource: SandboxResource,
  object: ApiObject,
  status: ApiObject["status"],
): void {
  const { namespace, name } = object.metadata;
  const live = registry.storage.get(resource, namespace, name);
  if (live === undefined || sameJson(live.status, status)) return;
  update(registry, resource, namespace, name, { ...object, status }, { ...controllerManager, subresource: "status" });
}

/** Calls back once for each key after a delay, however often it is asked for; everything is cancelled together. */
export class DelayedSteps {
  readonly #clock: Clock;
  readonly #cancels = new Map<string, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs `step` after `ms` milliseconds unless a step of this key is waiting already. */
  schedule(key: string, ms: number, step: () => void): void {
    if (this.#cancels.has(key)) return;
    const run = () => {
      this.#cancels.delete(key);
      syncOnce(step);
    };
    this.#cancels.set(key, this.#clock.timer(ms, run));
  }

  /** Cancels all steps that wait. */
  stop(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }
}
