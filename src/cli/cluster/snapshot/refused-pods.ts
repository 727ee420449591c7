import type { Event } from "#kubernetes";
import { desiredPods } from "../../../domain/pods/desired-pods.ts";
import { fieldsOf, numberOf } from "../../../domain/syntax/unknown-fields.ts";
import { isClusterFailure } from "../../../kube/api/api-failure.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import type { FoundWorkload } from "../read/workloads.ts";
import { listAll } from "../requests/list-all.ts";
import { mapBounded } from "../requests/map-bounded.ts";
import { boundedReason, type KubernetesReason, kubernetesReasonOf } from "../states/kubernetes-reason.ts";

/** Returns why Kubernetes cannot create Pods of a workload; null if it reports no failure. */
export type RefusedPods = (found: FoundWorkload) => KubernetesReason | null;

/** The Event reason of the StatefulSet and DaemonSet controllers if the API server rejects a Pod. */
const reason = "FailedCreate";

/**
 * Reads why Kubernetes cannot create Pods: from conditions, and for StatefulSets and DaemonSets, which have no such conditions, from
 * Events. Events are listed only if a workload lacks Pods. Without permission to list Events, only conditions are used.
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
      if (isClusterFailure(error)) return new Map<string, KubernetesReason>();
      throw error;
    }
  });
  const byUid = new Map(newest.flatMap((each) => [...each]));
  return ({ object, workload }) => kubernetesReasonOf(object) ?? byUid.get(workload.uid) ?? null;
}

function lacksPods({ object }: FoundWorkload): boolean {
  const { currentNumberScheduled, currentRevision, replicas } = fieldsOf(object.status);
  const existing = currentRevision === undefined ? currentNumberScheduled : (replicas ?? 0);
  return (numberOf(existing) ?? Number.POSITIVE_INFINITY) < desiredPods(object);
}

/** Returns the newest failure of each workload since its last rollout; `rolledAt` is in seconds since the epoch. Older failures are over. */
async function newestEvents(
  client: ApiClient,
  namespace: string,
  rolledAt: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, KubernetesReason>> {
  const scope = { namespace, fieldSelector: `reason=${reason}` };
  const events = await listAll<KubeObject & Event, readonly [uid: string, at: number, message: string]>(
    client,
    resources.events,
    scope,
    ({ involvedObject: { uid = "" }, lastTimestamp, eventTime, message = "" }) => {
      const at = Date.parse(lastTimestamp ?? eventTime ?? "") / 1_000;
      const since = rolledAt.get(uid);
      return since !== undefined && at >= since ? [uid, at, message] : undefined;
    },
  );
  const inOrder = events.toSorted(([, a], [, b]) => a - b);
  return new Map(inOrder.map(([uid, , message]) => [uid, boundedReason(reason, message)]));
}
