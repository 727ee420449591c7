import { podsOfOnePage } from "../../controllers/pending-pods/pod-owners.ts";
import { pendingPodsSelector } from "../../domain/model/scheduling-hold.ts";
import { type KubeObject, metadataOnlyList, resources } from "../../kube/api/resources.ts";
import { deletePod } from "../../kube/writes/delete-pod.ts";
import { sleep, systemClock } from "../../lib/clock.ts";
import { listAll, mapBounded } from "../cluster/requests.ts";
import type { ReleaseContext } from "./release-step.ts";

/** How long the command waits until the controllers of Kubernetes have seen that holds are lifted. */
const waitMs = 15_000;
const pauseMs = 500;

/** Deletes pending Pods that their controller does not replace, such as ordered Pods of a StatefulSet. Returns how many still pend. */
export async function replacePendingPods(context: ReleaseContext): Promise<number> {
  const { client, policy } = context;
  const { signal } = new AbortController();
  const caches = { workload: () => undefined, kinds: () => policy.kinds };
  const end = systemClock.monotonic() + waitMs;
  for (;;) {
    const pods = await listPendingPods(context);
    const decide = podsOfOnePage({ client, caches }, () => false, signal);
    const decisions = await mapBounded(pods, async (pod) => {
      const decision = await decide(pod);
      if (decision === "replaceable") await deletePod(client, pod, { signal });
      return decision;
    });
    const isSettled = decisions.every((decision) => decision === "held") && !pods.some(isOfReplicaSet);
    if (isSettled || systemClock.monotonic() > end) return pods.length;
    await sleep(systemClock, pauseMs);
  }
}

/** Lists the Pods that no scheduler handles, without those that are being deleted. */
function listPendingPods({ client, namespace }: ReleaseContext): Promise<readonly KubeObject[]> {
  const pending = { namespace, fieldSelector: pendingPodsSelector, accept: metadataOnlyList };
  return listAll<KubeObject, KubeObject>(client, resources.pods, pending, (pod) =>
    pod.metadata.deletionTimestamp === undefined ? pod : undefined,
  );
}

/** Kubernetes replaces the pending Pods of Deployments within moments. */
function isOfReplicaSet({ metadata }: KubeObject): boolean {
  return (
    metadata.ownerReferences?.some(({ kind, controller }) => controller === true && kind === "ReplicaSet") === true
  );
}
