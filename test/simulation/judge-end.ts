import { excuseIn } from "./judge-excuses.ts";
import { standsFor } from "./model-search.ts";
import { namespaceOf, type Stored, storedWhenRight } from "./model-stored.ts";
import {
  hasSchedulingHold,
  isOutOfSight,
  namedBy,
  optedIn,
  readHash,
  schedulerOf,
  schedulerOnHold,
  workloadResources,
} from "./model-workload.ts";
import type { Recording, StoredObject } from "./record.ts";
import { crashesWith } from "./stage/crashing-pods.ts";

/** The parts of a recording to judge. Without `epoch` and `lives`, the run must have no pacing. */
type Judged = Pick<Recording, "history" | "settings" | "rightAt" | "unlisted"> &
  Partial<Pick<Recording, "epoch" | "lives">>;

/**
 * Judges the state after the faults have stopped and Wave had its time, and after each single later action. Each complete
 * workload that opted in has the hash of the stored configuration and no scheduling hold. A scheduling hold remains only if
 * something is missing and scheduling holds are enabled. No Pod is pending because of a scheduling hold that its workload no
 * longer has. Workloads that people hold, and workloads that wait for failed ones, need not be rolled.
 */
export function judgeEnd(run: Judged): readonly string[] {
  const violations: string[] = [];
  for (const stored of storedWhenRight(run)) violations.push(...wrongIn(stored, run));
  return violations;
}

function wrongIn(stored: Stored, run: Judged): readonly string[] {
  const { at, objects, find } = stored;
  const { settings, unlisted } = run;
  const violations: string[] = [];
  for (const [key, object] of objects) {
    const [resource = ""] = key.split("/");
    const wrong = workloadResources.includes(resource)
      ? wrongWorkload(object)
      : resource === "pods" && isHeldWrongly(object)
        ? "a Pod is held by a scheduling hold that its workload no longer has"
        : undefined;
    if (wrong !== undefined) violations.push(`end: ${key}: ${wrong} (at ${at} ms)`);
  }
  return violations;

  function wrongWorkload(workload: StoredObject): string | undefined {
    if (workload.metadata.deletionTimestamp !== undefined || isOutOfSight(workload, settings, unlisted))
      return undefined;
    const excuse = (hash: string | undefined) => excuseIn(stored, run, workload, hash);
    if (!optedIn(workload, settings, namespaceOf(workload, objects))) {
      return hasSchedulingHold(workload) && excuse(undefined) !== "observed"
        ? "it has not opted in, and something of the scheduling hold is left"
        : undefined;
    }
    const { hash, missing } = standsFor(namedBy(workload, settings), find);
    if (missing) {
      // The annotation without the scheduler holds no Pod; the next write removes the annotation.
      const held = schedulerOf(workload) === schedulerOnHold && excuse(hash) !== "observed";
      return held && !settings.schedulingHold ? "scheduling holds are off, and its Pods are held" : undefined;
    }
    if (hasSchedulingHold(workload)) {
      // With only the annotation its Pods run, and the workload is held like others.
      const held = schedulerOf(workload) !== schedulerOnHold && excuse(hash) !== undefined;
      return held || excuse(hash) === "observed"
        ? undefined
        : "nothing is missing, and something of the scheduling hold is left";
    }
    if (hash === undefined || hash === readHash(workload) || excuse(hash) !== undefined) return undefined;
    return `it carries ${readHash(workload) ?? "no hash"} and not that of what is stored, ${hash}`;
  }

  function isHeldWrongly(pod: StoredObject): boolean {
    // Without webhooks Wave has no permission to delete Pods.
    if (!settings.webhooks) return false;
    if (schedulerOfPod(pod) !== schedulerOnHold || pod.metadata.deletionTimestamp !== undefined) return false;
    const workload = ownerOf(pod);
    if (workload === undefined || workload.metadata.deletionTimestamp !== undefined) return false;
    if (isOutOfSight(workload, settings, unlisted)) return false;
    if (excuseIn(stored, run, workload, undefined) === "observed") return false;
    // A paused Deployment, and a partition, are left to their owner.
    const { paused, updateStrategy } = (workload.spec ?? {}) as {
      readonly paused?: boolean;
      readonly updateStrategy?: { readonly rollingUpdate?: { readonly partition?: number } };
    };
    if (paused === true || (updateStrategy?.rollingUpdate?.partition ?? 0) > 0) return false;
    // While new Pods cannot start, or crash, a rollout may keep an old Pod. The simulation has no other scheduler.
    if (standsFor(namedBy(workload, settings), find).missing) return false;
    if (workload.kind === "Deployment" && hasCrashingPod(workload)) return false;
    // The API server sets no default fields of custom resources.
    return (schedulerOf(workload) ?? "default-scheduler") === "default-scheduler";
  }

  function hasCrashingPod(workload: StoredObject): boolean {
    const named = (kind: string, namespace: string, name: string) => find(`${kind}/${namespace}/${name}`);
    const pods = [...objects.values()].filter(
      (each) => each.kind === "Pod" && schedulerOfPod(each) !== schedulerOnHold,
    );
    return pods.some((pod) => ownerOf(pod) === workload && crashesWith(pod, named));
  }

  function ownerOf(object: StoredObject): StoredObject | undefined {
    const reference = object.metadata.ownerReferences?.find(({ controller }) => controller);
    const owner = [...objects.values()].find(({ metadata }) => metadata.uid === reference?.uid);
    return owner?.kind === "ReplicaSet" ? ownerOf(owner) : owner;
  }
}

function schedulerOfPod({ spec = {} }: StoredObject): string | undefined {
  return (spec as { readonly schedulerName?: string }).schedulerName;
}
