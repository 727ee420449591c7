import type { ObjectMeta } from "#kubernetes";
import type { WorkloadObject } from "./model/workload.ts";

/**
 * Reports whether `kubectl rollout undo` of a Deployment made a request. This command writes as field manager `kubectl`; edit, apply, set,
 * patch, replace and annotate have names of their own, such as `kubectl-edit`. The command replaces the annotations of the Deployment by those
 * of the old ReplicaSet
 * (https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kubectl/pkg/polymorphichelpers/rollback.go).
 */
export function isKubectlUndo({ kind, metadata }: WorkloadObject, before: WorkloadObject): boolean {
  const time = writtenByKubectl(metadata);
  return kind === "Deployment" && time !== undefined && time !== writtenByKubectl(before.metadata);
}

function writtenByKubectl(metadata: ObjectMeta | undefined): string | undefined {
  return metadata?.managedFields?.find(
    ({ manager, operation, subresource }) => manager === "kubectl" && operation === "Update" && !subresource,
  )?.time;
}
