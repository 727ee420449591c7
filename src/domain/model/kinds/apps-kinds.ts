import type { DaemonSet, Deployment, StatefulSet } from "#kubernetes";
import { epochSeconds } from "../../references/field-managers.ts";
import { isObserved, type Progress, type WorkloadRow } from "../kind-row.ts";

/** Shared values, because most workloads are complete or idle. */
const complete: Progress = { state: "complete", since: undefined };
const idle: Progress = { state: "idle" };

/** The reason of the condition `Progressing` of a Deployment from the end of a rollout until the next one. */
const completed = "NewReplicaSetAvailable";

/** The name of a kind of workload that Wave always rolls. */
export type BuiltInKind = "Deployment" | "StatefulSet" | "DaemonSet";

const apps = { apiVersion: "apps/v1", namespaced: true, isValidated: true, template: "/spec/template" } as const;

/** The kinds of workload that Wave always rolls, by name. The API server serves each kind under its own path, so `progress` gets only objects of its kind. */
export const kinds: Readonly<Record<BuiltInKind, WorkloadRow>> = {
  Deployment: {
    ...apps,
    id: "Deployment",
    kind: "Deployment",
    plural: "deployments",
    shortNames: ["deploy"],
    annotationsRaiseGeneration: true,
    rollsFirst: true,
    keepsPendingPods: false,
    // https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label
    replicaSetLabel: "pod-template-hash",
    progress: (object) => progressOfDeployment(object as Deployment),
  },
  StatefulSet: {
    ...apps,
    id: "StatefulSet",
    kind: "StatefulSet",
    plural: "statefulsets",
    shortNames: ["sts"],
    annotationsRaiseGeneration: false,
    keepsPendingPods: true,
    replicaSetLabel: "",
    progress: (object) => progressOfStatefulSet(object as StatefulSet),
  },
  DaemonSet: {
    ...apps,
    id: "DaemonSet",
    kind: "DaemonSet",
    plural: "daemonsets",
    shortNames: ["ds"],
    annotationsRaiseGeneration: false,
    keepsPendingPods: true,
    replicaSetLabel: "",
    progress: (object) => progressOfDaemonSet(object as DaemonSet),
  },
};

/** The rows of {@link kinds}. */
export const builtInKinds: readonly WorkloadRow[] = Object.values(kinds);

/** The rules are those of `kubectl rollout status`: https://github.com/kubernetes/kubectl/blob/master/pkg/polymorphichelpers/rollout_status.go */
function progressOfDeployment({ metadata, spec, status }: Deployment): Progress {
  if (spec?.paused) return idle;
  const { replicas = 0, updatedReplicas: updated = 0, availableReplicas: available = 0 } = status ?? {};
  const rollout = status?.conditions?.find(({ type }) => type === "Progressing");
  const progressing = { state: "progressing", step: available - 2 * (replicas - updated), available } as const;
  const isFailed = rollout?.reason === "ProgressDeadlineExceeded";
  const isComplete = updated >= (spec?.replicas ?? 1) && replicas <= updated && available >= updated;
  if (!isObserved(metadata?.generation, status?.observedGeneration))
    return isComplete && !isFailed && updated > 0 ? { ...progressing, wasComplete: true } : progressing;
  if (isFailed) return { state: "failed" };
  if (!isComplete) {
    const lost = rollout?.reason === completed ? { lostPods: true } : {};
    const unavailable = status?.conditions?.find(({ type, status }) => type === "Available" && status === "False");
    if (unavailable === undefined) return { ...progressing, ...lost };
    return { ...progressing, ...lost, unavailableSince: epochSeconds(unavailable.lastTransitionTime) };
  }
  if (spec?.replicas === 0) return idle;
  const since = rollout?.reason === completed ? epochSeconds(rollout.lastUpdateTime) : 0;
  return since === 0 ? complete : { state: "complete", since };
}

function progressOfStatefulSet({ metadata, spec, status }: StatefulSet): Progress {
  if (spec?.updateStrategy?.type === "OnDelete") return idle;
  const { replicas = 1 } = spec ?? {};
  const { updatedReplicas: updated = 0, currentRevision, updateRevision } = status ?? {};
  const available = status?.availableReplicas ?? status?.readyReplicas ?? 0;
  const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  const replaced = partition > 0 ? updated >= replicas - partition : updateRevision === currentRevision;
  const observed = isObserved(metadata?.generation, status?.observedGeneration);
  if (observed && replaced && available >= replicas) return partition >= replicas ? idle : complete;
  const progressing = { state: "progressing", step: 2 * updated + available, available } as const;
  const waitsFor = observed && available < replicas ? podInOrder(metadata?.name ?? "", spec, status) : undefined;
  return waitsFor === undefined ? progressing : { ...progressing, waitsFor };
}

function progressOfDaemonSet({ metadata, spec, status }: DaemonSet): Progress {
  if (spec?.updateStrategy?.type === "OnDelete") return idle;
  const { desiredNumberScheduled: desired = 0 } = status ?? {};
  const { updatedNumberScheduled: updated = 0, numberAvailable: available = 0 } = status ?? {};
  const observed = isObserved(metadata?.generation, status?.observedGeneration);
  if (observed && updated >= desired && available >= desired) return desired === 0 ? idle : complete;
  return { state: "progressing", step: 2 * updated + available, available };
}

/**
 * Returns the Pod of a StatefulSet that is most likely not ready, if Kubernetes replaces its Pods in order: the last one that it created or
 * replaced. A new pod template does not replace this Pod
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback).
 */
function podInOrder(name: string, spec: StatefulSet["spec"], status: StatefulSet["status"]): string | undefined {
  if (spec?.podManagementPolicy === "Parallel") return undefined;
  const { replicas: wanted = 1, ordinals } = spec ?? {};
  const { replicas: created = 0, updatedReplicas = 0, currentRevision, updateRevision } = status ?? {};
  const isNew = currentRevision === updateRevision;
  const place = isNew ? created - 1 : wanted - Math.max(1, updatedReplicas);
  return place < 0 ? undefined : `${name}-${(ordinals?.start ?? 0) + place}`;
}
