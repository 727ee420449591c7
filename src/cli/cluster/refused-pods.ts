import type { Event } from "kubernetes-types/core/v1.d.ts";
import { fieldsOf, numberOf } from "../../domain/model/kinds/replica-counts.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { ApiError, ConnectionError } from "../../kube/api/errors.ts";
import { resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { mapBounded } from "./map-bounded.ts";
import { boundedReason, type KubernetesReason, kubernetesReasonOf } from "./kubernetes-reason.ts";
import { listAll } from "./list-all.ts";
import type { FoundWorkload } from "./read-workloads.ts";
import { desiredPods } from "./workload-state.ts";

/** What Kubernetes says of the Pods of a workload that it cannot make; null where it says nothing. */
export type RefusedPods = (found: FoundWorkload) => KubernetesReason | null;

/** As the controllers of StatefulSets and DaemonSets call it when the API server refuses a Pod. */
const reason = "FailedCreate";

/**
 * Reads what Kubernetes says of Pods that it cannot make. It is in conditions, and for StatefulSets and DaemonSets,
 * which have none, in Events: these are listed only where a workload lacks Pods. Without the permission for that,
 * conditions are all that is told.
 */
export async function readRefusedPods(client: ApiClient, found: readonly FoundWorkload[]): Promise<RefusedPods> {
  const lacking = Map.groupBy(found.filter(lacksPods), ({ workload }) => workload.namespace);
  const newest = await mapBounded([...lacking], async ([namespace, group]) => {
    try {
      return await newestEvents(
        client,
        namespace,
        new Map(group.map(({ workload }) => [workload.uid, workload.rolledAt])),
      );
    } catch (error) {
      if (error instanceof ApiError || error instanceof ConnectionError) return new Map<string, KubernetesReason>();
      throw error;
    }
  });
  const byUid = new Map(newest.flatMap((each) => [...each]));
  return ({ object, workload }) => kubernetesReasonOf(object) ?? byUid.get(workload.uid) ?? null;
}

function lacksPods({ object }: FoundWorkload): boolean {
  const { currentNumberScheduled, currentRevision, replicas } = fieldsOf(object.status);
  const there = currentRevision === undefined ? currentNumberScheduled : (replicas ?? 0);
  return (numberOf(there) ?? Number.POSITIVE_INFINITY) < desiredPods(object);
}

/** The newest for each workload since Wave last wrote it: what was refused before that is over. Seconds since the epoch. */
async function newestEvents(
  client: ApiClient,
  namespace: string,
  rolledAt: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, KubernetesReason>> {
  const scope = { namespace, fieldSelector: `reason=${reason}` };
  const told = await listAll<KubeObject & Event, readonly [uid: string, at: number, message: string]>(
    client,
    resources.events,
    scope,
    ({ involvedObject: { uid = "" }, lastTimestamp, eventTime, message = "" }) => {
      const at = Date.parse(lastTimestamp ?? eventTime ?? "") / 1_000;
      const since = rolledAt.get(uid);
      return since !== undefined && at >= since ? [uid, at, message] : undefined;
    },
  );
  const inOrder = told.toSorted(([, a], [, b]) => a - b);
  return new Map(inOrder.map(([uid, , message]) => [uid, boundedReason(reason, message)]));
}
