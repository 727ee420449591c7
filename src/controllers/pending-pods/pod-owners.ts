import type { DaemonSet, StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import type { Caches } from "../../cache/caches.ts";
import { workloadPath } from "../../cache/workloads/workload-resource.ts";
import { isOfKind } from "../../domain/model/kind-row.ts";
import { invalidScheduler, isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import { workloadKey } from "../../domain/model/workload.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { policyAnnotationsOf } from "../../domain/policy/policy-annotations.ts";
import { rolloutPolicyOf } from "../../domain/policy/rollout-policy.ts";
import { isDnsSubdomain } from "../../domain/syntax/dns-name.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { readIfThere } from "../../kube/reads/read-if-there.ts";

/**
 * What is to be done with a Pod that a gate holds:
 *
 * - "replaceable": its controller would make another one, without the gate;
 * - "not yet": its controller has not seen that the gate is open;
 * - "held": the gate is closed, its workload is only observed, or no workload of these kinds owns it.
 */
export type Verdict = "replaceable" | "not yet" | "held";

/** What {@link createHeldPodOwners} needs. */
export interface PodOwnersOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly caches: Pick<Caches, "workload" | "kinds">;
  readonly policy: Policy;
}

/** Judges Pods by the workloads that own them. */
export interface PodOwners {
  /** A judge for the Pods of one page: reads each owner at most once, and keeps nothing for longer. */
  ofOnePage(): (pod: KubeObject) => Promise<Verdict>;
}

type Owner = KubeObject & Pick<StatefulSet & DaemonSet, "spec" | "status">;

/** Reads owners only where the cache does not tell already that their gate is closed. */
export function createPodOwners({ client, caches, policy }: PodOwnersOptions, signal: AbortSignal): PodOwners {
  const read = (owner: Parameters<typeof workloadPath>[0]): Promise<Owner | undefined> =>
    readIfThere<Owner>(client, { path: workloadPath(owner), signal });

  return {
    ofOnePage: () => {
      const owners = new Map<string, Promise<Owner | undefined>>();
      return async (pod) => {
        const { namespace = "" } = pod.metadata;
        const reference = pod.metadata.ownerReferences?.find(({ controller }) => controller);
        const row = caches
          .kinds()
          .find((known) => known.leavesHeldPods && reference !== undefined && isOfKind(reference, known));
        if (reference === undefined || row === undefined) return "held";
        // It is anybody's text, and would become part of a path.
        if (!isDnsSubdomain(reference.name)) return "held";
        const { name } = reference;
        const key = workloadKey({ kind: row.id, namespace, name });
        const cached = caches.workload(key);
        // Where the cache is behind, it is about to hear that the gate opened, and then this is asked again.
        if (cached !== undefined && (cached.uid !== reference.uid || isSchedulingHeld(cached))) return "held";
        const reading = owners.get(key) ?? read({ row, namespace, name });
        owners.set(key, reading);
        const owner = await reading;
        if (owner?.metadata.uid !== reference.uid || isObserved(owner, namespace, policy)) return "held";
        return verdict(pod, owner);
      };
    },
  };
}

function isObserved({ metadata }: Owner, namespace: string, policy: Policy): boolean {
  const own = policyAnnotationsOf(metadata.annotations, "workload");
  return rolloutPolicyOf({ policy: own, namespace }, policy).mode.value === "observe";
}

function verdict(pod: KubeObject, owner: Owner): Verdict {
  if (owner.spec?.template.spec?.schedulerName === invalidScheduler) return "held";
  // Pods below the partition are made from the revision before, which has the gate.
  const ordinal = Number(/\d+$/.exec(pod.metadata.name)?.[0]);
  if (ordinal < partitionOf(owner)) return "held";
  return (owner.status?.observedGeneration ?? 0) < (owner.metadata.generation ?? 0) ? "not yet" : "replaceable";
}

function partitionOf({ spec }: Owner): number {
  const rollingUpdate: { partition?: number } | undefined = spec?.updateStrategy?.rollingUpdate;
  return rollingUpdate?.partition ?? 0;
}
