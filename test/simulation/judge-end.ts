import { excuseIn } from "./judge-excuses.ts";
import { standsFor } from "./model-search.ts";
import { namespaceOf, type Stored, storedWhenRight } from "./model-stored.ts";
import {
  hasSchedulingHold,
  isOutOfSight,
  namedBy,
  optedIn,
  recordedHash,
  schedulerOf,
  schedulerOnHold,
  workloadResources,
} from "./model-workload.ts";
import type { Recording, StoredObject } from "./record.ts";
import { crashesWith } from "./stage/crashing-pods.ts";

/** Without the last two nothing may be paced. */
type Judged = Pick<Recording, "history" | "settings" | "rightAt" | "unlisted"> &
  Partial<Pick<Recording, "epoch" | "lives">>;

/**
 * When the faults have stopped and Wave had its time, and after each single thing that is done then: each workload that
 * has opted in and is complete carries the hash of what is stored and no gate; a gate is left only where something is
 * missing and gates are on; and no Pod is held by a gate that its workload no longer has. What people hold, and what
 * waits for others that fail, need not be rolled.
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
      // A note without the scheduler holds nobody; it goes with the next write.
      const held = schedulerOf(workload) === schedulerOnHold && excuse(hash) !== "observed";
      return held && !settings.schedulingHold ? "scheduling holds are off, and its Pods are held" : undefined;
    }
    if (hasSchedulingHold(workload)) {
      // With the note alone its Pods run, and are held as others are.
      const held = schedulerOf(workload) !== schedulerOnHold && excuse(hash) !== undefined;
      return held || excuse(hash) === "observed"
        ? undefined
        : "nothing is missing, and something of the scheduling hold is left";
    }
    if (hash === undefined || hash === recordedHash(workload) || excuse(hash) !== undefined) return undefined;
    return `it carries ${recordedHash(workload) ?? "no hash"} and not that of what is stored, ${hash}`;
  }

  function isHeldWrongly(pod: StoredObject): boolean {
    // Without webhooks Wave may not delete Pods.
    if (!settings.webhooks) return false;
    if (schedulerOfPod(pod) !== schedulerOnHold || pod.metadata.deletionTimestamp !== undefined) return false;
    const workload = ownerOf(pod);
    if (workload === undefined || workload.metadata.deletionTimestamp !== undefined) return false;
    if (isOutOfSight(workload, settings, unlisted)) return false;
    if (excuseIn(stored, run, workload, undefined) === "observed") return false;
    // A paused Deployment, and a partition, are left to whoever set them.
    const { paused, updateStrategy } = (workload.spec ?? {}) as {
      readonly paused?: boolean;
      readonly updateStrategy?: { readonly rollingUpdate?: { readonly partition?: number } };
    };
    if (paused === true || (updateStrategy?.rollingUpdate?.partition ?? 0) > 0) return false;
    // While new Pods cannot start, or crash, a rollout may leave an old one as it is. No other scheduler runs in the simulation.
    if (standsFor(namedBy(workload, settings), find).missing) return false;
    if (workload.kind === "Deployment" && hasCrashingPod(workload)) return false;
    // The API server fills in no fields of custom resources.
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
