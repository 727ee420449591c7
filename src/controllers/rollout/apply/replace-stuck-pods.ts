import type { Pod, StatefulSet } from "#kubernetes";
import { workloadPath } from "../../../cache/workloads/workload-reads.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { pinsBeforeRollout, returnsOnFailure } from "../../../domain/pinning/pin-request.ts";
import { everyObject, observePod } from "../../../domain/pods/observed-pod.ts";
import { podSelector } from "../../../domain/pods/pod-owner.ts";
import { rulesFor } from "../../../domain/policy/rules.ts";
import { pinnedAnnotation } from "../../../domain/references/annotations.ts";
import { isApiFailure, isForbidden, isNotFound, retryAfterMs } from "../../../kube/api/api-failure.ts";
import { type KubeList, type KubeObject, resourcePath, resources } from "../../../kube/api/resources.ts";
import { deletePod } from "../../../kube/writes/delete-pod.ts";
import { errorText } from "../../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../../leader-context.ts";
import { refusedTexts } from "../report/event-texts.ts";
import type { WriteResult } from "./workload-writer.ts";

/** The label of the Pods of a StatefulSet with the name of their revision. */
const revisionLabel = "controller-revision-hash";

/** A StatefulSet waits for one Pod at a time, so the first page has it. */
const pageSize = 100;

/**
 * Reports whether Pods of a failed rollout may keep a workload from its return, or from a later rollout by Wave. A StatefulSet with ordered Pods
 * waits for ever until such a Pod is ready (https://github.com/kubernetes/kubernetes/issues/67250).
 */
export function mayHaveStuckPods(workload: Workload, { policy }: LeaderParts<"policy">): boolean {
  const { row, progress, rejected, templateEditedAt, rolledAt } = workload;
  if (row.id !== "StatefulSet" || progress.state !== "progressing" || progress.waitsFor === undefined) return false;
  const isByWave = pinsBeforeRollout(workload) !== undefined && templateEditedAt <= rolledAt;
  if (rejected === undefined && !isByWave) return false;
  const rules = rulesFor(workload, policy);
  return rules.clusterHold === undefined && returnsOnFailure(workload, rules);
}

/**
 * Deletes the Pods of a StatefulSet that a failed rollout left, as they and the StatefulSet are stored in etcd: they are not ready, and their pins
 * are neither those of the pod template nor those of the last complete rollout. A Pod that has changed since it was read stays. Each
 * deletion takes a permit; without one, the workload is reconciled again when it has one. Returns undefined if nothing failed.
 */
export async function replaceStuckPods(
  cached: Workload,
  { client, policy, leadership }: LeaderParts<"client" | "policy" | "leadership">,
  takePermit: () => boolean,
): Promise<Extract<WriteResult, { readonly type: "refused" | "unavailable" | "stopped" }> | undefined> {
  const { namespace } = cached;
  const { abort: signal, valid: mayBeSent } = leadership;
  try {
    const path = workloadPath(cached);
    const owner = await client.request<KubeObject & StatefulSet>({ method: "GET", path, signal });
    const workload = toWorkload(cached.row, owner, policy);
    const { updateRevision, currentRevision } = owner.status ?? {};
    if (workload.uid !== cached.uid || updateRevision === undefined || !mayHaveStuckPods(workload, { policy }))
      return undefined;
    const labels = [podSelector(owner.spec?.selector), revisionLabel, `${revisionLabel}!=${updateRevision}`];
    // Kubernetes would create the Pods below the partition again as they are.
    if (owner.spec?.updateStrategy?.rollingUpdate?.partition) labels.push(`${revisionLabel}!=${currentRevision}`);
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
    if (signal.aborted) return { type: "stopped" };
    if (isNotFound(error)) return undefined;
    if (isForbidden(error)) return { type: "refused", message: refusedTexts.forbiddenToReplace(namespace) };
    if (!isApiFailure(error)) throw error;
    return { type: "unavailable", message: errorText(error), retryAfterMs: retryAfterMs(error), uncertain: false };
  }
}

function isStuck(pod: KubeObject & Pod, workload: Workload): boolean {
  const { metadata } = pod;
  const { pinned, rejected, uid } = workload;
  if (metadata.deletionTimestamp || !metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid))
    return false;
  if ([pinned, pinsBeforeRollout(workload)].includes(metadata.annotations?.[pinnedAnnotation])) return false;
  // After a return, no Pod of the failed rollout may stay.
  return rejected === undefined ? neverStarted(pod) : !observePod(pod, everyObject, undefined).ready;
}

/** Times of the API are whole seconds. */
const sameTimeMs = 1_000;

/** Reports whether a Pod is not ready and has not been ready before, or one of its containers has exited. */
function neverStarted(pod: Pod): boolean {
  const { ready, restarts, exit, volumesAt: startedAt } = observePod(pod, everyObject, undefined);
  if (ready) return false;
  const changed = pod.status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  const wasReady = changed !== undefined && Date.parse(changed) > startedAt + sameTimeMs;
  return !wasReady || restarts.count > 0 || exit !== undefined;
}
