import { type Json, objectOf, stringOf } from "../objects/json.ts";
import { type ApiObject, timestamp } from "../objects/object.ts";
import { allResources, type SandboxResource } from "../objects/resources.ts";
import { conflict, notFound } from "../objects/status-error.ts";
import { isFinished, type Registry } from "./registry.ts";

/** What becomes of the objects that the deleted one owns. */
export type PropagationPolicy = "Background" | "Foreground" | "Orphan";

/** The finalizer that holds an object until what it owns is gone. */
export const foregroundDeletion = "foregroundDeletion";

/**
 * Deletes an object, or marks it as being deleted where finalizers or a running Pod hold it; the garbage collector follows
 * what it owned. https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 * Returns the object and whether it is gone. Throws 404, and 409 where a precondition of `options` does not hold.
 */
export function remove(
  registry: Registry,
  resource: SandboxResource,
  namespace: string | undefined,
  name: string,
  options: Json | undefined,
  dryRun: boolean,
): { readonly object: ApiObject; readonly gone: boolean } {
  const live = registry.storage.get(resource, namespace, name);
  if (live === undefined) throw notFound(resource, name);
  const { preconditions, propagationPolicy, gracePeriodSeconds } = objectOf(options);
  checkPreconditions(resource, live, objectOf(preconditions));
  if (dryRun) return { object: live, gone: false };
  if (propagationPolicy === "Orphan") orphanDependents(registry, live);
  const grace = graceOf(live, gracePeriodSeconds);
  const marked = deleting(registry, live, grace, propagationPolicy === "Foreground");
  if (isFinished(marked)) {
    registry.storage.remove(resource, namespace, name);
    return { object: live, gone: true };
  }
  if (marked === live) return { object: live, gone: false };
  return { object: registry.storage.put(resource, marked), gone: false };
}

function checkPreconditions(
  resource: SandboxResource,
  { metadata }: ApiObject,
  wanted: { readonly [field: string]: Json | undefined },
): void {
  if (wanted.uid !== undefined && wanted.uid !== metadata.uid) {
    const why = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw conflict(resource, metadata.name, why);
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw conflict(resource, metadata.name, why);
  }
}

/** Seconds that a Pod has to stop: none where no kubelet runs it. Other kinds have no grace. */
function graceOf({ kind, spec, status }: ApiObject, asked: Json | undefined): number {
  if (kind !== "Pod" || stringOf(objectOf(spec).nodeName) === "") return 0;
  const phase = objectOf(status).phase;
  if (phase === "Succeeded" || phase === "Failed") return 0;
  return Number(asked ?? objectOf(spec).terminationGracePeriodSeconds ?? 30);
}

/** The object marked as being deleted; the mark raises the generation of kinds that have one. */
function deleting(registry: Registry, live: ApiObject, grace: number, foreground: boolean): ApiObject {
  const { metadata } = live;
  const marked = metadata.deletionTimestamp !== undefined;
  if (marked && grace >= (metadata.deletionGracePeriodSeconds ?? 0)) return live;
  const finalizers = [...(metadata.finalizers ?? [])];
  if (foreground && !finalizers.includes(foregroundDeletion)) finalizers.push(foregroundDeletion);
  const object: ApiObject = {
    ...live,
    metadata: {
      ...metadata,
      ...(metadata.generation === undefined || marked ? {} : { generation: metadata.generation + 1 }),
      ...(finalizers.length === 0 ? {} : { finalizers }),
      deletionTimestamp: timestamp(registry.clock.wall() + grace * 1000),
      deletionGracePeriodSeconds: grace,
    },
  };
  return live.kind === "Namespace" ? { ...object, status: { phase: "Terminating" } } : object;
}

/** Every object that names this one as an owner, with its kind. */
function dependentsOf(registry: Registry, owner: ApiObject): [SandboxResource, ApiObject][] {
  return allResources
    .filter((resource) => resource.namespaced)
    .flatMap((resource) =>
      registry.storage
        .list(resource, owner.metadata.namespace)
        .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid))
        .map((object): [SandboxResource, ApiObject] => [resource, object]),
    );
}

function orphanDependents(registry: Registry, owner: ApiObject): void {
  for (const [resource, object] of dependentsOf(registry, owner)) {
    const { ownerReferences = [], ...metadata } = object.metadata;
    const others = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
    registry.storage.put(resource, {
      ...object,
      metadata: others.length === 0 ? metadata : { ...metadata, ownerReferences: others },
    });
  }
}
