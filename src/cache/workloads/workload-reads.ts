import type { OwnerReference } from "#kubernetes";
import { isTemplateSource } from "../../domain/config/tracked-view.ts";
import { isOfKind, type WorkloadRow } from "../../domain/model/kind-row.ts";
import { builtInKinds, kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { knownKinds } from "../../domain/model/kinds/known-kinds.ts";
import { type RequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import { type Workload, workloadKey } from "../../domain/model/workload-shape.ts";
import { apiFailureOf } from "../../kube/api/api-failure.ts";
import { type KubeObject, metadataOnly, resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { findResource, findStatusFields, getIfExists } from "../../kube/reads/reads.ts";

type Limits = { readonly timeoutMs?: number; readonly signal?: AbortSignal };

/** The stored object whose pod template a workload uses. */
export type StoredTemplateSource = KubeObject & WorkloadObject;

/** Reads the template source of a workload; undefined if there is none. Throws what {@link ApiClient.request} throws, except 404. */
export async function readTemplateSource(
  client: Pick<ApiClient, "request">,
  { workloadRef }: Pick<WorkloadRow, "workloadRef">,
  object: WorkloadObject,
  limits: Limits = {},
): Promise<StoredTemplateSource | undefined> {
  const templateSource = workloadRef?.templateSourceOf(object);
  const namespace = object.metadata?.namespace;
  if (templateSource === undefined || namespace === undefined || !isTemplateSource(templateSource)) return undefined;
  const path = resourcePath(kinds.Deployment, { namespace, name: templateSource.name });
  return getIfExists<StoredTemplateSource>(client, { path, ...limits });
}

/** Returns an object with the pod template of `templateSource`; the unchanged object if there is none. */
export function withTemplateOf<O extends WorkloadObject>(
  { workloadRef }: Pick<WorkloadRow, "workloadRef">,
  object: O,
  templateSource: StoredTemplateSource | undefined,
): O {
  if (workloadRef === undefined || templateSource === undefined) return object;
  return workloadRef.withTemplate(object, templateSource.spec?.template, templateSource.metadata.generation ?? 0) as O;
}

/**
 * Returns an object with the pod template of its template source, which is read as it is stored now. Returns the object unchanged
 * if it has no template source. Throws what {@link ApiClient.request} throws, except 404.
 */
export async function withBorrowedTemplate<O extends WorkloadObject>(
  client: Pick<ApiClient, "request">,
  row: Pick<WorkloadRow, "workloadRef">,
  object: O,
  limits: Limits = {},
): Promise<O> {
  return withTemplateOf(row, object, await readTemplateSource(client, row, object, limits));
}

/**
 * Reads an object and completes it like {@link withBorrowedTemplate}; undefined if it does not exist. Throws what
 * {@link ApiClient.request} throws, except 404.
 */
export async function readWithBorrowedTemplate(
  client: Pick<ApiClient, "request">,
  row: WorkloadRow,
  name: { readonly namespace: string; readonly name: string },
  limits: Limits,
): Promise<(KubeObject & WorkloadObject) | undefined> {
  const object = await getIfExists<KubeObject & WorkloadObject>(client, { path: resourcePath(row, name), ...limits });
  return object && withBorrowedTemplate(client, row, object, limits);
}

/** What {@link ownerCheck} needs. */
export interface OwnerReads {
  readonly client: Pick<ApiClient, "request">;
  readonly workload: (key: string) => Workload | undefined;
  /** The kinds of the caches. Default: the built-in kinds. */
  readonly kinds?: readonly WorkloadRow[];
}

/** Reports whether an owner of an object in a namespace exists and is not being deleted. */
type OwnerCheck = (owner: OwnerReference, namespace: string, signal?: AbortSignal) => Promise<boolean>;

/** How many owners one check reads. Anyone who may write ConfigMaps may write more owners. */
const maxReads = 20;

/**
 * Returns a function that reports whether an owner reference names a workload that exists and is not being deleted. The caches do not have
 * workloads that have not opted in, so the function reads an owner that is not cached. It is for one decision: it reads each owner once, and
 * no more than {@link maxReads}. An owner that it does not read, or may not read, is not alive, nor is an unknown kind: nothing may rely on an
 * object that the garbage collector could be about to delete. The function throws what {@link getIfExists} throws if the API server does
 * not answer.
 */
export function ownerCheck({ client, workload, kinds = builtInKinds }: OwnerReads): OwnerCheck {
  const known = new Map<string, boolean>();
  return async (owner, namespace, signal) => {
    const row = kinds.find((each) => isOfKind(owner, each));
    if (row === undefined) return false;
    const key = workloadKey({ kind: row.id, namespace, name: owner.name });
    const cached = workload(key);
    if (cached !== undefined) return cached.uid === owner.uid && !cached.deleting;
    const which = `${key} ${owner.uid}`;
    const isAlive =
      known.get(which) ?? (known.size < maxReads && (await exists(owner, row, namespace, client, signal)));
    if (known.size < maxReads) known.set(which, isAlive);
    return isAlive;
  };
}

async function exists(
  { name, uid }: OwnerReference,
  row: WorkloadRow,
  namespace: string,
  client: OwnerReads["client"],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const request = { path: resourcePath(row, { namespace, name }), accept: metadataOnly, ...(signal && { signal }) };
  try {
    const read = await getIfExists<KubeObject>(client, request);
    return read?.metadata.uid === uid && read.metadata.deletionTimestamp === undefined;
  } catch (error) {
    // Also a name that no object can have: owner references may have any.
    if (["forbidden", "badRequest", "invalid"].includes(apiFailureOf(error)?.type ?? "")) return false;
    throw error;
  }
}

/** Returns the API path of a workload. */
export function workloadPath({ row, namespace, name }: Pick<Workload, "row" | "namespace" | "name">): string {
  return resourcePath(row, { namespace, name });
}

/** Maximum number of requests for a schema: the API server publishes it one second after it serves the kind. */
const maxTries = 3;

/**
 * Returns the row of a kind; undefined if the API server does not serve it as a namespaced kind. Does not request the schema again
 * for a kind that was found before: it may have a megabyte. Throws what requests throw.
 */
export async function findKind(
  client: Pick<ApiClient, "request">,
  wanted: RequestedKind,
  {
    before,
    pause,
    signal,
  }: {
    /** The row of the previous call. */
    readonly before?: WorkloadRow | undefined;
    /** Waits until a schema may be published. Undefined: do not wait. */
    readonly pause?: () => Promise<void>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<WorkloadRow | undefined> {
  const found = await findResource(client, wanted, signal);
  if (!found?.namespaced) return undefined;
  if (before?.apiVersion === found.apiVersion && before.kind === found.kind) return before;
  if (knownKinds[wanted.id] !== undefined) return requestedKindRow(wanted, found);
  let statusFields = await findStatusFields(client, found, signal);
  for (let tries = 1; statusFields === undefined && pause !== undefined && tries < maxTries; tries++) {
    await pause();
    statusFields = await findStatusFields(client, found, signal);
  }
  return requestedKindRow(wanted, { ...found, statusFields });
}
