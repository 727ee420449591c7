import type { OwnerReference } from "#kubernetes";
import { isOfKind, type WorkloadRow } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { type Workload, workloadKey } from "../../domain/model/workload.ts";
import { apiFailureOf } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { resourcePath } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";

/** What {@link isOwnerAlive} needs. */
export interface OwnerReads {
  readonly client: Pick<ApiClient, "request">;
  /** Returns a workload of the caches. */
  readonly workload: (key: string) => Workload | undefined;
  /** The kinds of the caches. Default: the built-in kinds. */
  readonly kinds?: readonly WorkloadRow[];
}

/**
 * Returns a function that reports whether an owner reference names a workload that exists and is not being deleted. The caches do not have
 * workloads that have not opted in, so the function reads an owner that is not cached. An unknown kind is not alive: nothing may rely on
 * an object that the garbage collector could be about to delete. The function throws what {@link getIfExists} throws, except 403.
 */
export function isOwnerAlive({
  client,
  workload,
  kinds = builtInKinds,
}: OwnerReads): (owner: OwnerReference, namespace: string, signal?: AbortSignal) => Promise<boolean> {
  return async (owner, namespace, signal) => {
    const row = kinds.find((each) => isOfKind(owner, each));
    if (row === undefined) return false;
    const cached = workload(workloadKey({ kind: row.id, namespace, name: owner.name }));
    if (cached !== undefined) return cached.uid === owner.uid && !cached.deleting;
    const path = resourcePath(row, { namespace, name: owner.name });
    try {
      const read = await getIfExists<KubeObject>(client, { path, ...(signal && { signal }) });
      return read?.metadata.uid === owner.uid && read.metadata.deletionTimestamp === undefined;
    } catch (error) {
      if (apiFailureOf(error)?.type === "forbidden") return false;
      throw error;
    }
  };
}
