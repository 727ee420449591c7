import type { StoredObject } from "./record.ts";

interface Spec {
  readonly replicas?: number;
  readonly paused?: boolean;
  readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
}

type Status = Readonly<Record<string, number | string | undefined>>;

/**
 * Reports whether a rollout has nothing left to do, as `kubectl rollout status` does. A workload that does not roll by
 * itself, because it is paused or uses `OnDelete`, has nothing left to do.
 */
export function isComplete(workload: StoredObject): boolean {
  const spec = (workload.spec ?? {}) as Spec;
  const status = (workload.status ?? {}) as Status;
  const count = (field: string) => Number(status[field] ?? 0);
  if (spec.paused === true || spec.updateStrategy?.type === "OnDelete") return true;
  if (count("observedGeneration") < (workload.metadata.generation ?? 0)) return false;
  const replicas = spec.replicas ?? 1;
  switch (workload.kind) {
    case "Deployment": {
      const updated = count("updatedReplicas");
      return updated >= replicas && count("replicas") <= updated && count("availableReplicas") >= updated;
    }
    case "Widget":
      return count("updatedReplicas") >= replicas && count("availableReplicas") >= replicas;
    case "StatefulSet": {
      const partition = spec.updateStrategy?.rollingUpdate?.partition ?? 0;
      if (count("readyReplicas") < replicas) return false;
      if (partition > 0) return count("updatedReplicas") >= replicas - partition;
      return status.updateRevision === status.currentRevision;
    }
    default: {
      const desired = count("desiredNumberScheduled");
      return count("updatedNumberScheduled") >= desired && count("numberAvailable") >= desired;
    }
  }
}

/** Reports whether a rollout of a workload replaces no Pod: it has none, or a person must replace them. */
export function isIdle(workload: StoredObject): boolean {
  const spec = (workload.spec ?? {}) as Spec;
  if (spec.paused === true || spec.updateStrategy?.type === "OnDelete") return true;
  if (workload.kind === "DaemonSet") {
    return isComplete(workload) && Number(((workload.status ?? {}) as Status).desiredNumberScheduled ?? 0) === 0;
  }
  return (spec.updateStrategy?.rollingUpdate?.partition ?? 0) >= (spec.replicas ?? 1);
}

/** Reports whether a workload is complete, by the status of this or of an earlier generation. One without a status is not. */
export function wasComplete(workload: StoredObject): boolean {
  const observed = Number(((workload.status ?? {}) as Status).observedGeneration ?? 0);
  return isComplete({ ...workload, metadata: { ...workload.metadata, generation: Math.max(1, observed) } });
}
