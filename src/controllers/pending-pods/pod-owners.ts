import type { DaemonSet, StatefulSet } from "#kubernetes";
import { workloadPath } from "../../cache/workloads/workload-reads.ts";
import { isOfKind } from "../../domain/model/kind-row.ts";
import { invalidScheduler, isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import { workloadKey } from "../../domain/model/workload-shape.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { policyAnnotationsOf } from "../../domain/policy/policy-rows.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { isDnsSubdomain } from "../../domain/syntax/names.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import { getIfExists } from "../../kube/reads/reads.ts";
import type { LeaderParts } from "../leader-context.ts";

/**
 * What to do with a Pod without a scheduler:
 * - "replaceable": its controller would create a new Pod without the scheduling hold.
 * - "not yet": its controller has not seen yet that the hold was removed.
 * - "held": the hold exists, the workload is only observed, or no workload of these kinds owns the Pod.
 */
type PodDecision = "replaceable" | "not yet" | "held";

type Owner = KubeObject & Pick<StatefulSet & DaemonSet, "spec" | "status">;

/**
 * Returns a function that decides about the Pods of one page by the workloads that own them. It reads each owner at most once, and only if
 * the cache does not show that its scheduling hold still exists. `isObserved` reports whether an owner is only observed, so that its Pods stay.
 */
export function podsOfOnePage(
  { client, caches }: LeaderParts<"client", "workload" | "kinds">,
  isObserved: (owner: Owner, namespace: string) => boolean,
  signal: AbortSignal,
): (pod: KubeObject) => Promise<PodDecision> {
  const read = (owner: Parameters<typeof workloadPath>[0]): Promise<Owner | undefined> =>
    getIfExists<Owner>(client, { path: workloadPath(owner), signal });
  const owners = new Map<string, Promise<Owner | undefined>>();
  return async (pod) => {
    const { namespace = "" } = pod.metadata;
    const reference = pod.metadata.ownerReferences?.find(({ controller }) => controller);
    const row = caches
      .kinds()
      .find((known) => known.keepsPendingPods && reference !== undefined && isOfKind(reference, known));
    if (reference === undefined || row === undefined) return "held";
    // Anyone may write this text, and it would become part of a path.
    if (!isDnsSubdomain(reference.name)) return "held";
    const { name } = reference;
    const key = workloadKey({ kind: row.id, namespace, name });
    const cached = caches.workload(key);
    // If the cache is behind, the namespace is searched again when the cache receives the removal of the hold.
    if (cached !== undefined && (cached.uid !== reference.uid || isSchedulingHeld(cached))) return "held";
    const reading = owners.get(key) ?? read({ row, namespace, name });
    owners.set(key, reading);
    const owner = await reading;
    if (owner?.metadata.uid !== reference.uid || isObserved(owner, namespace)) return "held";
    return decisionOn(pod, owner);
  };
}

/** Reports whether the policy only observes the owner of Pods. */
export function isObservedOwner({ metadata, spec }: Owner, namespace: string, policy: Policy): boolean {
  const own = policyAnnotationsOf(metadata.annotations, "workload", spec?.template.metadata?.annotations);
  return rulesFor({ namespace, policy: own }, policy).mode.value === "observe";
}

function decisionOn(pod: KubeObject, owner: Owner): PodDecision {
  if (owner.spec?.template.spec?.schedulerName === invalidScheduler) return "held";
  // Pods below the partition are created from the previous revision, which has the hold.
  const ordinal = Number(/\d+$/.exec(pod.metadata.name)?.[0]);
  if (ordinal < partitionOf(owner)) return "held";
  return (owner.status?.observedGeneration ?? 0) < (owner.metadata.generation ?? 0) ? "not yet" : "replaceable";
}

function partitionOf({ spec }: Owner): number {
  const rollingUpdate: { partition?: number } | undefined = spec?.updateStrategy?.rollingUpdate;
  return rollingUpdate?.partition ?? 0;
}
