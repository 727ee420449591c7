import type { ApiObject } from "../objects/object.ts";
import { foregroundDeletion, type PropagationPolicy, remove } from "../registry/deletion.ts";
import { type Registry, update } from "../registry/registry.ts";
import { type Controller, type ControllerRegistry, controllerManager } from "./controller.ts";
import type { Place } from "./owner-index.ts";

/**
 * Deletes what belongs to owners that are gone, and before them what an owner deleted in the foreground waits for. Its keys
 * are the UIDs of owners. https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 */
export function garbageCollector(registry: ControllerRegistry): Controller {
  const index = registry.owners;
  return {
    concerned({ before, after }) {
      const object = after ?? before;
      if (object === undefined) return [];
      const { uid, ownerReferences = [] } = object.metadata;
      const owners = ownerReferences.map((owner) => owner.uid);
      const isOwner = isHeld(object) || index.dependents(uid).length > 0;
      return isOwner ? [uid, ...owners] : owners;
    },
    sync(uid) {
      const place = index.place(uid);
      const owner = place === undefined ? undefined : objectAt(registry, place);
      if (owner !== undefined && !isHeld(owner)) return;
      for (const dependent of index.dependents(uid)) {
        const object = objectAt(registry, dependent);
        if (object === undefined || object.metadata.deletionTimestamp !== undefined) continue;
        if (hasOtherOwner(registry, object, uid)) withoutOwner(registry, dependent, object, uid);
        else deleteDependent(registry, dependent, owner === undefined ? "Background" : "Foreground");
      }
      if (place !== undefined && index.dependents(uid).length === 0) release(registry, place);
    },
  };
}

/** What an owner waits for waits for its own dependents in turn. */
function deleteDependent(registry: Registry, place: Place, propagationPolicy: PropagationPolicy): void {
  remove(registry, place.resource, place.namespace, place.name, { propagationPolicy }, false);
}

function objectAt(registry: Registry, { resource, namespace, name }: Place): ApiObject | undefined {
  return registry.storage.get(resource, namespace, name);
}

/** Whether an object waits for its dependents to go first. */
function isHeld({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(foregroundDeletion);
}

/** One that is not itself about to take what belongs to it with it. */
function hasOtherOwner(registry: ControllerRegistry, { metadata }: ApiObject, gone: string): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => {
    const place = uid === gone ? undefined : registry.owners.place(uid);
    const owner = place && objectAt(registry, place);
    return owner !== undefined && !isHeld(owner);
  });
}

function withoutOwner(registry: Registry, { resource, namespace, name }: Place, object: ApiObject, gone: string): void {
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== gone);
  const body = { ...object, metadata: { ...object.metadata, ownerReferences } };
  update(registry, resource, namespace, name, body, controllerManager);
}

/** Lets an owner go that has no dependents left. */
function release(registry: Registry, place: Place): void {
  const owner = objectAt(registry, place);
  if (owner === undefined || !isHeld(owner)) return;
  const finalizers = (owner.metadata.finalizers ?? []).filter((finalizer) => finalizer !== foregroundDeletion);
  const body = { ...owner, metadata: { ...owner.metadata, finalizers } };
  update(registry, place.resource, place.namespace, place.name, body, controllerManager);
}
