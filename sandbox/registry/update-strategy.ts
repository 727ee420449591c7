import { type JsonObject, objectOf, sameJson, without } from "../objects/json.ts";
import type { ApiObject, ManagedFieldsEntry } from "../objects/object.ts";
import type { SandboxResource } from "../objects/resources.ts";
import { withoutManagedFields } from "../patches/managed-fields.ts";

/** Returns the live object with the status and annotations of a write to its status subresource. Its generation does not change. */
export function withStatusOf(live: ApiObject, decoded: JsonObject): ApiObject {
  const { annotations: _, ...metadata } = live.metadata;
  const annotations = objectOf(decoded.metadata).annotations;
  const merged = (annotations === undefined ? metadata : { ...metadata, annotations }) as ApiObject["metadata"];
  return { ...live, metadata: merged, status: decoded.status };
}

/**
 * Returns the object that replaces the live object. Metadata that only the server sets stays the same, and so does the status of a kind
 * with a status subresource.
 */
export function replacement(resource: SandboxResource, live: ApiObject, decoded: JsonObject): ApiObject {
  const sent = without(objectOf(decoded.metadata), ...systemFields);
  const system = Object.entries(live.metadata).filter(([field]) => systemFields.includes(field));
  const metadata = { ...sent, ...Object.fromEntries(system) } as ApiObject["metadata"];
  const status = resource.subresources.includes("status") ? { status: live.status } : {};
  const spec = live.kind === "Namespace" ? { spec: decoded.spec ?? live.spec } : {};
  return { ...decoded, ...status, ...spec, metadata } as ApiObject;
}

/** What of metadata a client cannot set by a write. */
const systemFields = [
  ...["name", "namespace", "generateName", "uid", "resourceVersion", "creationTimestamp", "generation", "selfLink"],
  ...["deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"],
];

/**
 * Returns `after` with a generation that is one higher, if a field that counts for the kind's generation has changed.
 * https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#metadata
 */
export function withGeneration(resource: SandboxResource, before: ApiObject, after: ApiObject): ApiObject {
  const changed = (resource.generation ?? []).some((field) =>
    field === "annotations"
      ? !sameJson(before.metadata.annotations ?? {}, after.metadata.annotations ?? {})
      : !sameJson(before[field], after[field]),
  );
  if (!changed) return after;
  return { ...after, metadata: { ...after.metadata, generation: (before.metadata.generation ?? 0) + 1 } };
}

/** Reports whether a write changes nothing but the times in managedFields. The API server does not store such a write. */
export function isNoOp(before: ApiObject, after: ApiObject): boolean {
  if (!sameJson(withoutManagedFields(before), withoutManagedFields(after))) return false;
  const timeless = (entries: readonly ManagedFieldsEntry[] = []) => entries.map((entry) => without(entry, "time"));
  return sameJson(timeless(before.metadata.managedFields), timeless(after.metadata.managedFields));
}
