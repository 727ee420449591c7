import type { OwnerReference } from "#kubernetes";
import { isOfKind, type WorkloadRow } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { type Workload, workloadKey } from "../../domain/model/workload.ts";
import { apiFailureOf } from "../../kube/api/api-failure.ts";
import { type KubeObject, metadataOnly } from "../../kube/api/api-types.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";

/** What {@link ownerCheck} needs. */
export interface OwnerReads {
  readonly client: Pick<ApiClient, "request">;
  /** Returns a workload of the caches. */
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
