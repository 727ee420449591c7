import type { ObjectMeta } from "kubernetes-types/meta/v1.d.ts";
import type { Warning } from "../references/warning.ts";

/**
 * What early versions of Wave in Go put on workloads, as Wave does with `--owner-references`, to do something when these are
 * deleted.
 */
export const oldFinalizer = "wave.pusher.com/finalizer";

/** Whether Wave's finalizer is on an object. Unless something removes it, the deletion of the object never ends. */
export function hasOldFinalizer({ finalizers }: ObjectMeta): boolean {
  return finalizers?.includes(oldFinalizer) === true;
}

/**
 * What the owner of such a workload is told. The ownerReferences must go first: else objects that others read are
 * deleted with the workload.
 */
export const oldFinalizerWarning: Warning = {
  reason: "OldFinalizer",
  message: `finalizer ${oldFinalizer} is of an old Wave, or of one with --owner-references, and its deletion never ends with it: run Wave with --migrate-legacy, which removes it, and before that the ownerReferences to this workload from ConfigMaps and Secrets, which are deleted with it otherwise`,
};
