import type { ApiObject } from "../objects/object.ts";
import { resources, type SandboxResource } from "../objects/resources.ts";
import { keyOf, type Storage } from "../registry/storage.ts";

/** Where an object is. */
export interface Place {
  readonly resource: SandboxResource;
  readonly namespace: string | undefined;
  readonly name: string;
}

/**
 * Which object has a UID, and which objects name that UID as an owner. Follows every write from its making on; before that
 * there are Namespaces alone.
 */
export class OwnerIndex {
  readonly #places = new Map<string, Place>();
  readonly #dependents = new Map<string, Map<string, Place>>();
  /** Stops following. */
  readonly stop: () => void;

  constructor(storage: Storage) {
    for (const namespace of storage.list(resources.namespaces)) this.#remember(resources.namespaces, namespace);
    this.stop = storage.subscribe(({ resource, before, after }) => {
      if (before !== undefined) this.#forget(resource, before);
      if (after !== undefined) this.#remember(resource, after);
    });
  }

  /** Returns the place of the object with this UID; undefined if it no longer exists. */
  place(uid: string): Place | undefined {
    return this.#places.get(uid);
  }

  /** The objects that name this UID as an owner. */
  dependents(uid: string): readonly Place[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #remember(resource: SandboxResource, object: ApiObject): void {
    const { uid, namespace, name, ownerReferences = [] } = object.metadata;
    const place = { resource, namespace, name };
    this.#places.set(uid, place);
    for (const owner of ownerReferences) {
      const dependents = this.#dependents.get(owner.uid) ?? new Map<string, Place>();
      dependents.set(`${resource.plural}/${keyOf(object)}`, place);
      this.#dependents.set(owner.uid, dependents);
    }
  }

  #forget(resource: SandboxResource, object: ApiObject): void {
    this.#places.delete(object.metadata.uid);
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const dependents = this.#dependents.get(uid);
      dependents?.delete(`${resource.plural}/${keyOf(object)}`);
      if (dependents?.size === 0) this.#dependents.delete(uid);
    }
  }
}
