import type { DaemonSet, Deployment, StatefulSet } from "kubernetes-types/apps/v1.d.ts";
import { secondsOf } from "./field-managers.ts";
import type { Progress } from "./pacing/progress.ts";
import type { WorkloadObject } from "./workload-references.ts";

/** What Wave knows of a kind of workload. */
interface KindRow<O extends WorkloadObject> {
  /** How far its rollout is, by the rules of `kubectl rollout status`. */
  readonly progress: (object: O) => Progress;
}

/** The one object of the many that are so. */
const complete: Progress = { state: "complete", since: undefined };
const idle: Progress = { state: "idle" };

/** https://github.com/kubernetes/kubectl/blob/master/pkg/polymorphichelpers/rollout_status.go */
const kindRows: {
  readonly Deployment: KindRow<Deployment>;
  readonly StatefulSet: KindRow<StatefulSet>;
  readonly DaemonSet: KindRow<DaemonSet>;
} = {
  Deployment: {
    progress: ({ metadata, spec, status }) => {
      if (spec?.paused) return idle;
      const { replicas = 0, updatedReplicas: updated = 0, availableReplicas: available = 0 } = status ?? {};
      const rollout = status?.conditions?.find(({ type }) => type === "Progressing");
      const progressing = { state: "progressing", step: available - 2 * (replicas - updated), available } as const;
      if (!isObserved(metadata?.generation, status?.observedGeneration)) return progressing;
      if (rollout?.reason === "ProgressDeadlineExceeded") return { state: "failed" };
      if (updated < (spec?.replicas ?? 1) || replicas > updated || available < updated) return progressing;
      if (spec?.replicas === 0) return idle;
      const since = rollout?.reason === "NewReplicaSetAvailable" ? secondsOf(rollout.lastUpdateTime) : 0;
      return since === 0 ? complete : { state: "complete", since };
    },
  },
  StatefulSet: {
    progress: ({ metadata, spec, status }) => {
      if (spec?.updateStrategy?.type === "OnDelete") return idle;
      const { replicas = 1 } = spec ?? {};
      const { updatedReplicas: updated = 0, currentRevision, updateRevision } = status ?? {};
      const available = status?.availableReplicas ?? status?.readyReplicas ?? 0;
      const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
      const replaced = partition > 0 ? updated >= replicas - partition : updateRevision === currentRevision;
      const observed = isObserved(metadata?.generation, status?.observedGeneration);
      if (observed && replaced && available >= replicas) return partition >= replicas ? idle : complete;
      return { state: "progressing", step: 2 * updated + available, available };
    },
  },
  DaemonSet: {
    progress: ({ metadata, spec, status }) => {
      if (spec?.updateStrategy?.type === "OnDelete") return idle;
      const { desiredNumberScheduled: desired = 0 } = status ?? {};
      const { updatedNumberScheduled: updated = 0, numberAvailable: available = 0 } = status ?? {};
      const observed = isObserved(metadata?.generation, status?.observedGeneration);
      if (observed && updated >= desired && available >= desired) return desired === 0 ? idle : complete;
      return { state: "progressing", step: 2 * updated + available, available };
    },
  },
};

/** The kinds of workload that Wave rolls, all of `apps/v1`. */
export type WorkloadKind = keyof typeof kindRows;

/** Every {@link WorkloadKind}. */
export const workloadKinds = Object.keys(kindRows) as readonly WorkloadKind[];

/** How far the rollout of a workload is, as its status says it. */
export function progressOf(kind: WorkloadKind, object: WorkloadObject): Progress {
  // The API server has each kind under a path of its own.
  const { progress } = kindRows[kind] as KindRow<WorkloadObject>;
  return progress(object);
}

/** Whether the status is of the spec as it is now, and not of one before. */
function isObserved(generation = 0, observed = 0): boolean {
  return observed > 0 && observed >= generation;
}
