import type { Caches } from "../../cache/caches.ts";
import { configResources } from "../../cache/live/live-configs.ts";
import { workloadPath } from "../../cache/workloads/workload-resource.ts";
import { oldFinalizer } from "../../domain/model/old-finalizer.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { type Owners, type OwnersPlan, ownersOf, planned } from "../../domain/owner-references/owners.ts";
import { ownershipManager } from "../../domain/references/field-managers.ts";
import type { StoredName } from "../../domain/references/references.ts";
import type { JsonPatch, JsonPatchOperation } from "../../domain/syntax/json-patch.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { readIfThere } from "../../kube/reads/read-if-there.ts";
import type { Leadership } from "../../runtime/leadership.ts";

/** What is written with. */
export interface WriteOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly leadership: Leadership;
  readonly caches: Pick<Caches, "kinds" | "owners">;
}

/** What came of a write that did not fail: "nothing" where all was right already, or the object is gone. */
export type Written = "written" | "nothing";

/** No value of a Secret comes with it. */
const onlyMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/**
 * Gives a ConfigMap or Secret the owner references that `plan` makes of those that are stored now. Rejects with 422
 * where they changed before the write arrived, and with what requests throw.
 */
export async function writeOwners(
  { kind, namespace, name }: StoredName,
  plan: (owners: Owners) => OwnersPlan | undefined,
  options: WriteOptions,
): Promise<Written> {
  const path = resourcePath(configResources[kind], { namespace, name });
  const object = await read(path, options);
  if (object === undefined) return "nothing";
  const { caches } = options;
  caches.owners?.see(kind, object);
  const references = object.metadata.ownerReferences ?? [];
  const owners = ownersOf(references, namespace, caches.kinds());
  const wanted = plan(owners);
  if (wanted === undefined) return "nothing";
  // Read after the object: whatever stands under this name when the object is still there is its Namespace.
  const anchors = wanted.anchored && !owners.anchored;
  const anchor = anchors ? await read(resourcePath(resources.namespaces, { name: namespace }), options) : undefined;
  if (anchors && anchor === undefined) return "nothing";
  const after = planned(references, wanted, namespace, anchor?.metadata.uid ?? "", caches.kinds());
  const written = await patch(
    path,
    object,
    listPatch("ownerReferences", object.metadata.ownerReferences, after),
    options,
  );
  caches.owners?.see(kind, written);
  return "written";
}

/**
 * Puts Wave's finalizer on a workload, or takes it off: of this very workload, whose finalizers must not change meanwhile.
 * Rejects with what requests throw.
 */
export async function writeFinalizer(workload: Workload, wanted: boolean, options: WriteOptions): Promise<Written> {
  const path = workloadPath(workload);
  const object = await read(path, options);
  if (object === undefined || object.metadata.uid !== workload.uid) return "nothing";
  const { finalizers, deletionTimestamp } = object.metadata;
  const has = finalizers?.includes(oldFinalizer) ?? false;
  // The API server lets nobody put one on what is being deleted.
  if (has === wanted || (wanted && deletionTimestamp)) return "nothing";
  const others = (finalizers ?? []).filter((each) => each !== oldFinalizer);
  const after = wanted ? [...others, oldFinalizer] : others;
  await patch(path, object, listPatch("finalizers", finalizers, after), options);
  return "written";
}

/** A list of the metadata, which is still as it was read, as it is to be. */
function listPatch(
  field: "ownerReferences" | "finalizers",
  before: readonly unknown[] | null | undefined,
  after: readonly unknown[],
): readonly JsonPatchOperation[] {
  const path = `/metadata/${field}`;
  const test = { op: "test", path, value: before ?? null } as const;
  // An empty list is stored as none.
  return [test, after.length === 0 ? { op: "remove", path } : { op: "add", path, value: after }];
}

function read(path: string, { client, leadership }: WriteOptions): Promise<KubeObject | undefined> {
  return readIfThere<KubeObject>(client, { path, accept: onlyMetadata, signal: leadership.abort });
}

async function patch(
  path: string,
  { metadata }: KubeObject,
  operations: readonly JsonPatchOperation[],
  { client, leadership }: WriteOptions,
): Promise<KubeObject> {
  const body: JsonPatch = [{ op: "test", path: "/metadata/uid", value: metadata.uid }, ...operations];
  return client.request<KubeObject>({
    method: "PATCH",
    path,
    query: { fieldManager: ownershipManager },
    contentType: "application/json-patch+json",
    accept: onlyMetadata,
    body,
    signal: leadership.abort,
    mayBeSent: leadership.valid,
  });
}
