import { configResources } from "../../cache/live/live-configs.ts";
import { workloadPath } from "../../cache/workloads/workload-reads.ts";
import { oldFinalizer } from "../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import {
  type Owners,
  type OwnersPlan,
  ownersOf,
  withPlannedOwners,
} from "../../domain/owner-references/owner-references.ts";
import { ownershipManager } from "../../domain/references/field-managers.ts";
import type { StoredName } from "../../domain/references/references.ts";
import type { JsonPatch, JsonPatchOperation } from "../../domain/syntax/json.ts";
import { type KubeObject, metadataOnly, resourcePath, resources } from "../../kube/api/resources.ts";
import { getIfExists } from "../../kube/reads/reads.ts";
import type { ownerReferenceMetrics } from "../../telemetry/catalogue/owner-references.ts";
import type { Counter } from "../../telemetry/metrics/metrics.ts";
import type { LabelsOf } from "../../telemetry/metrics/series.ts";
import type { LeaderParts } from "../leader-context.ts";

/** What the write requests need. */
export type WriteOptions = LeaderParts<"client" | "leadership", "kinds" | "owners">;

/** What the controller and its parts need, for one leadership. */
export interface OwnerReferenceOptions
  extends LeaderParts<
    "client" | "policy" | "clock" | "log" | "random" | "leadership" | "permits" | "post",
    "lookup" | "workload" | "workloads" | "workloadsIn" | "workloadsReading" | "kinds" | "owners"
  > {
  readonly writes: Counter<LabelsOf<typeof ownerReferenceMetrics.writes>>;
  readonly syncPeriodMs: number;
}

/** The result of a successful request. "unchanged": the object is already right, or is gone. */
export type ObjectWriteResult = "written" | "unchanged";

/**
 * Writes the owner references of a ConfigMap or Secret that `plan` returns for the stored ones. Rejects with 422 if they
 * changed before the write arrived, and with the errors of requests.
 */
export async function writeOwners(
  { kind, namespace, name }: StoredName,
  plan: (owners: Owners) => OwnersPlan | undefined,
  options: WriteOptions,
): Promise<ObjectWriteResult> {
  const path = resourcePath(configResources[kind], { namespace, name });
  const object = await read(path, options);
  if (object === undefined) return "unchanged";
  const { caches } = options;
  caches.owners?.update(kind, object);
  const references = object.metadata.ownerReferences ?? [];
  const owners = ownersOf(references, namespace, caches.kinds());
  const wanted = plan(owners);
  if (wanted === undefined) return "unchanged";
  // Read after the object: as long as the object exists, the Namespace with this name is its own.
  const anchors = wanted.namespaceOwner && !owners.namespaceOwner;
  const anchor = anchors ? await read(resourcePath(resources.namespaces, { name: namespace }), options) : undefined;
  if (anchors && anchor === undefined) return "unchanged";
  const after = withPlannedOwners(references, wanted, namespace, anchor?.metadata.uid ?? "", caches.kinds());
  const written = await patch(
    path,
    object,
    listPatch("ownerReferences", object.metadata.ownerReferences, after),
    options,
  );
  caches.owners?.update(kind, written);
  return "written";
}

/**
 * Adds or removes Wave's finalizer. Only on the workload with this uid, and only if its finalizers do not change meanwhile.
 * Rejects with the errors of requests.
 */
export async function writeFinalizer(
  workload: Workload,
  wanted: boolean,
  options: WriteOptions,
): Promise<ObjectWriteResult> {
  const path = workloadPath(workload);
  const object = await read(path, options);
  if (object === undefined || object.metadata.uid !== workload.uid) return "unchanged";
  const { finalizers, deletionTimestamp } = object.metadata;
  const has = finalizers?.includes(oldFinalizer) ?? false;
  // The API server accepts no new finalizer on an object that is being deleted.
  if (has === wanted || (wanted && deletionTimestamp)) return "unchanged";
  const others = (finalizers ?? []).filter((each) => each !== oldFinalizer);
  const after = wanted ? [...others, oldFinalizer] : others;
  await patch(path, object, listPatch("finalizers", finalizers, after), options);
  return "written";
}

/** Returns a patch of a list in the metadata, which tests that the list is as it was read. */
function listPatch(
  field: "ownerReferences" | "finalizers",
  before: readonly unknown[] | null | undefined,
  after: readonly unknown[],
): readonly JsonPatchOperation[] {
  const path = `/metadata/${field}`;
  const test = { op: "test", path, value: before ?? null } as const;
  // The API server does not store an empty list.
  return [test, after.length === 0 ? { op: "remove", path } : { op: "add", path, value: after }];
}

function read(path: string, { client, leadership }: WriteOptions): Promise<KubeObject | undefined> {
  return getIfExists<KubeObject>(client, { path, accept: metadataOnly, signal: leadership.abort });
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
    accept: metadataOnly,
    body,
    signal: leadership.abort,
    mayBeSent: leadership.valid,
  });
}
