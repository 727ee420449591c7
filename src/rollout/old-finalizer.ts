import type { ObjectMeta } from "kubernetes-types/meta/v1.d.ts";
import type { Warning } from "./warning.ts";

/** What early versions of Wave in Go put on workloads, to do something when these are deleted. */
const oldFinalizer = "wave.pusher.com/finalizer";

/** Whether an old Wave's finalizer is on an object: nobody removes it by now, so that its deletion never ends. */
export function hasOldFinalizer({ finalizers }: ObjectMeta): boolean {
  return finalizers?.includes(oldFinalizer) === true;
}

/** What its owner is told of that. Its owner references first, else what others read is deleted with the workload. */
export const oldFinalizerWarning: Warning = {
  reason: "OldFinalizer",
  message: `finalizer ${oldFinalizer} is of an old Wave, and its deletion never ends with it; remove it, but before that the ownerReferences to this workload from ConfigMaps and Secrets, which are deleted with it otherwise (Wave in Go 0.11 does both when it runs once)`,
};
