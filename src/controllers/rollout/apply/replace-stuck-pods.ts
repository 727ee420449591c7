import type { Pod, StatefulSet } from "#kubernetes";
import { workloadPath } from "../../../cache/workloads/workload-reads.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { returnsOnFailure } from "../../../domain/pinning/pin-request.ts";
import { podSelector } from "../../../domain/pods/pod-owner.ts";
import { policyFor } from "../../../domain/policy/policy.ts";
import { isApiFailure, isForbidden, isNotFound, retryAfterMs } from "../../../kube/api/api-failure.ts";
import { type KubeList, type KubeObject, resourcePath, resources } from "../../../kube/api/resources.ts";
import { deletePod } from "../../../kube/writes/delete-pod.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { refusedTexts } from "../report/event-texts.ts";
import type { ApplyOptions } from "./apply.ts";
import type { WriteFailure } from "./workload-writer.ts";

/** How replacing Pods failed. */
export type StuckPodsFailure = Extract<WriteFailure, { readonly type: "refused" | "unavailable" }>;

/** The label of the Pods of a StatefulSet with the name of their revision. */
const revisionLabel = "controller-revision-hash";

/** A StatefulSet waits for one Pod at a time, so the first page has it. */
const pageSize = 100;

/**
 * Reports whether Pods of a failed revision may keep a workload from its return. A StatefulSet with ordered Pods waits for ever until such a
 * Pod is ready (https://github.com/kubernetes/kubernetes/issues/67250).
 */
export function mayHaveStuckPods(workload: Workload, { policy }: Pick<ApplyOptions, "policy">): boolean {
  const { row, progress, rejected } = workload;
  if (row.id !== "StatefulSet" || rejected === undefined || progress.state !== "progressing") return false;
  const ofWorkload = policyFor(workload, policy);
  return ofWorkload.clusterHold === undefined && returnsOnFailure(workload, ofWorkload);
}

/**
 * Deletes the Pods of a StatefulSet that are not ready and not of its newest revision, as they are stored in etcd. A Pod that has changed
 * since it was read stays. Returns undefined if nothing failed.
 */
export async function replaceStuckPods(
  workload: Workload,
  { client, leadership }: LeaderParts<"client" | "leadership">,
  takePermit: () => boolean,
): Promise<StuckPodsFailure | undefined> {
  const { namespace } = workload;
  const { abort: signal, valid: mayBeSent } = leadership;
  try {
    const path = workloadPath(workload);
    const owner = await client.request<KubeObject & StatefulSet>({ method: "GET", path, signal });
    const { status, spec, metadata } = owner;
    const { updateRevision, observedGeneration = 0 } = status ?? {};
    const isSeen = metadata.uid === workload.uid && observedGeneration >= (metadata.generation ?? 0);
    if (!isSeen || updateRevision === undefined || spec?.podManagementPolicy === "Parallel") return undefined;
    const labels = [podSelector(spec?.selector), revisionLabel, `${revisionLabel}!=${updateRevision}`];
    // Without a resourceVersion, the API server reads the list from etcd.
    const { items } = await client.request<KubeList<KubeObject & Pod>>({
      method: "GET",
      path: resourcePath(resources.pods, { namespace }),
      query: { labelSelector: labels.join(","), limit: pageSize },
      signal,
    });
    for (const pod of items ?? []) {
      if (!isStuck(pod, workload)) continue;
      if (!takePermit()) return undefined;
      await deletePod(client, pod, { signal, mayBeSent });
    }
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (isNotFound(error)) return undefined;
    if (isForbidden(error)) return { type: "refused", message: refusedTexts.forbiddenToReplace(namespace) };
    if (!isApiFailure(error)) throw error;
    return { type: "unavailable", message: errorText(error), retryAfterMs: retryAfterMs(error), uncertain: false };
  }
}

function isStuck({ metadata, status }: KubeObject & Pod, { uid }: Workload): boolean {
  if (metadata.deletionTimestamp || !metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid))
    return false;
  return !status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
}
