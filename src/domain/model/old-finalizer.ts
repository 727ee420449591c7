import type { ObjectMeta } from "#kubernetes";
import type { Warning } from "../references/warning.ts";

/**
 * The finalizer that early versions of Wave in Go added to workloads. Wave also adds it with `--owner-references`, to act when
 * a workload is deleted.
 */
export const oldFinalizer = "wave.pusher.com/finalizer";

/** Reports whether an object has the finalizer. Its deletion never ends until something removes the finalizer. */
export function hasOldFinalizer({ finalizers }: ObjectMeta): boolean {
  return finalizers?.includes(oldFinalizer) === true;
}

/**
 * The warning for the owner of such a workload. The ownerReferences must be removed first. Otherwise ConfigMaps and Secrets are
 * deleted with the workload, even if other workloads read them.
 */
export const oldFinalizerWarning: Warning = {
  reason: "OldFinalizer",
  message: `Finalizer ${oldFinalizer} blocks the deletion of this workload. An old Wave, or Wave with --owner-references, added it. Run Wave with --migrate-legacy. Wave first removes the ownerReferences to this workload from ConfigMaps and Secrets, so that Kubernetes does not delete these objects with the workload. Then Wave removes the finalizer.`,
};
