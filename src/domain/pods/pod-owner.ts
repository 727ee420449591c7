import type { ObjectMeta } from "#kubernetes";
import { isOfKind, type WorkloadRow } from "../model/kind-row.ts";
import type { WorkloadName } from "../model/workload-shape.ts";

/**
 * Returns the workload that owns a Pod. The name of a ReplicaSet is the name of its Deployment plus the template hash, which its Pods
 * have as a label (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label). So ReplicaSets,
 * ten times as many as Deployments, need not be read.
 */
export function podOwner(
  { namespace = "", labels = {}, ownerReferences = [] }: ObjectMeta,
  kinds: readonly WorkloadRow[],
): WorkloadName | undefined {
  const owner = ownerReferences.find(({ controller }) => controller);
  if (owner === undefined) return undefined;
  const row = kinds.find((each) => each.replicaSetLabel === "" && isOfKind(owner, each));
  if (row !== undefined) return { kind: row.id, namespace, name: owner.name };
  if (owner.kind !== "ReplicaSet") return undefined;
  for (const { id, replicaSetLabel } of kinds) {
    const suffix = `-${(replicaSetLabel && labels[replicaSetLabel]) ?? ""}`;
    if (suffix === "-" || !owner.name.endsWith(suffix)) continue;
    return { kind: id, namespace, name: owner.name.slice(0, -suffix.length) };
  }
  return undefined;
}
