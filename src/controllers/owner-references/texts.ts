import type { ObjectEvent } from "../../kube/events/event-object.ts";

/** Returns the Event on a workload whose deletion is blocked, because a write failed with `cause`. */
export function deletionBlockedEvent(cause: string): Omit<ObjectEvent, "regarding"> {
  return {
    type: "Warning",
    reason: "OldFinalizer",
    message: `Deletion blocked: cannot remove finalizer: ${cause}. Wave retries.`,
  };
}
