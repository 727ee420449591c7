import type { OwnerReference } from "#kubernetes";
import { isOfKind, type WorkloadRow } from "../../domain/model/kind-row.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { type Workload, workloadKey } from "../../domain/model/workload.ts";

/**
 * Returns a function that reports whether an owner reference names a workload that exists and is not being deleted. An unknown kind is not
 * alive: nothing may rely on an object that the garbage collector could be about to delete.
 */
export function isOwnerAlive(
  workload: (key: string) => Workload | undefined,
  kinds: readonly WorkloadRow[] = builtInKinds,
): (owner: OwnerReference, namespace: string) => boolean {
  return (owner, namespace) => {
    const row = kinds.find((each) => isOfKind(owner, each));
    const found = row && workload(workloadKey({ kind: row.id, namespace, name: owner.name }));
    return found !== undefined && found.uid === owner.uid && !found.deleting;
  };
}
