import type { ApiObject } from "../objects/object.ts";
import { allResources, resources } from "../objects/resources.ts";
import { remove } from "../registry/deletion.ts";
import { isFinished, type Registry } from "../registry/registry.ts";
import type { Controller } from "./controller.ts";

/** Empties a namespace that is being deleted, then lets it go. Its keys are names of namespaces. */
export function namespaceController(registry: Registry): Controller {
  return {
    concerned({ resource, before, after }) {
      const object = after ?? before;
      if (object === undefined) return [];
      const name = resource === resources.namespaces ? object.metadata.name : object.metadata.namespace;
      return name !== undefined && terminating(registry, name) !== undefined ? [name] : [];
    },
    sync(name) {
      const namespace = terminating(registry, name);
      if (namespace === undefined) return;
      for (const resource of allResources.filter(({ namespaced }) => namespaced)) {
        for (const { metadata } of registry.storage.list(resource, name)) {
          if (metadata.deletionTimestamp === undefined)
            remove(registry, resource, name, metadata.name, undefined, false);
        }
      }
      const isEmpty = allResources.every(
        (resource) => !resource.namespaced || registry.storage.list(resource, name).length === 0,
      );
      if (isEmpty) finalize(registry, namespace);
    },
  };
}

function terminating(registry: Registry, name: string): ApiObject | undefined {
  const namespace = registry.storage.get(resources.namespaces, undefined, name);
  return namespace?.metadata.deletionTimestamp === undefined ? undefined : namespace;
}

function finalize(registry: Registry, namespace: ApiObject): void {
  const finalized: ApiObject = { ...namespace, spec: {} };
  if (isFinished(finalized)) registry.storage.remove(resources.namespaces, undefined, namespace.metadata.name);
}
