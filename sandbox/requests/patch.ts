import { type Json, objectOf } from "../objects/json.ts";
import type { ApiObject } from "../objects/object.ts";
import type { SandboxResource } from "../objects/resources.ts";
import { badRequest, invalidKind, notFound, unsupportedMediaType } from "../objects/status-error.ts";
import { applyConfiguration } from "../patches/apply.ts";
import { applyJsonPatch } from "../patches/json-patch.ts";
import { applyMergePatch } from "../patches/merge-patch.ts";
import { applyStrategicMergePatch } from "../patches/strategic-merge-patch.ts";
import { create, type Registry, update, type WriteOptions, writerOf } from "../registry/registry.ts";

/** The ways to change an object by a patch. */
export type PatchType = "json" | "merge" | "strategic" | "apply";

/** Returns the patch type for the content type of a request. Throws 415 for any other content type. */
export function patchTypeOf(contentType: string): PatchType {
  switch (contentType.split(";")[0]?.trim()) {
    case "application/json-patch+json":
      return "json";
    case "application/merge-patch+json":
      return "merge";
    case "application/strategic-merge-patch+json":
      return "strategic";
    case "application/apply-patch+yaml":
      return "apply";
    default:
      throw unsupportedMediaType();
  }
}

/** Changes an object by a patch; `apply` creates one that is not there. Throws a `StatusError`. */
export function patch(
  registry: Registry,
  resource: SandboxResource,
  namespace: string | undefined,
  name: string,
  type: PatchType,
  body: Json,
  options: WriteOptions & { readonly force: boolean; readonly namedManager: boolean },
): { readonly object: ApiObject; readonly created: boolean } {
  const live = registry.storage.get(resource, namespace, name);
  if (type === "apply") return apply(registry, resource, namespace, name, body, options);
  if (live === undefined) throw notFound(resource, name);
  const patched = patchedObject(type, live, body);
  return { object: update(registry, resource, namespace, name, patched, options), created: false };
}

function patchedObject(type: Exclude<PatchType, "apply">, live: ApiObject, body: Json): Json {
  switch (type) {
    case "json":
      return applyJsonPatch(live, body);
    case "merge":
      return applyMergePatch(live, body);
    case "strategic":
      return applyStrategicMergePatch(live, body);
  }
}

function apply(
  registry: Registry,
  resource: SandboxResource,
  namespace: string | undefined,
  name: string,
  body: Json,
  options: WriteOptions & { readonly force: boolean; readonly namedManager: boolean },
): { readonly object: ApiObject; readonly created: boolean } {
  if (!options.namedManager) {
    throw invalidKind("meta.k8s.io", "PatchOptions", "", [
      { reason: "FieldValueRequired", field: "fieldManager", message: "Required value: is required for apply patch" },
    ]);
  }
  const configuration = objectOf(body);
  const metadata = objectOf(configuration.metadata);
  if (metadata.managedFields !== undefined) throw badRequest("metadata.managedFields must be nil");
  const live = registry.storage.get(resource, namespace, name);
  const writer = { ...writerOf(registry, options), operation: "Apply" } as const;
  const named = { ...configuration, metadata: { ...metadata, name } };
  const { object, managedFields } = applyConfiguration(live, named, writer, options.force);
  if (live === undefined) {
    return { object: create(registry, resource, namespace, object, options, managedFields), created: true };
  }
  return { object: update(registry, resource, namespace, name, object, options, managedFields), created: false };
}
