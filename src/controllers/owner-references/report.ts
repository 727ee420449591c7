import type { Workload } from "../../domain/model/workload.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";

/** The most workloads that one report names: an object may have any number of owners. */
const maxReported = 100;

/**
 * Reports on the workloads of a failed run that are being deleted why the deletion does not end. People look there for the cause, and not at
 * an object that Wave may not write. The existing Event counts the tries.
 */
export function reportBlockedDeletions(
  workloads: readonly Workload[],
  error: unknown,
  post: (event: ObjectEvent) => void,
): void {
  const event = deletionBlockedEvent(errorText(error));
  for (const { row, namespace, name, uid } of workloads.filter(({ deleting }) => deleting).slice(0, maxReported)) {
    const regarding = { apiVersion: row.apiVersion, kind: row.kind, namespace, name, uid };
    post({ regarding, ...event, repeats: "perhaps" });
  }
}

/** Returns the Event on a workload whose deletion is blocked, because a write failed with `cause`. */
export function deletionBlockedEvent(cause: string): Omit<ObjectEvent, "regarding"> {
  return {
    type: "Warning",
    reason: "OldFinalizer",
    message: `Deletion blocked: cannot remove finalizer: ${cause}. Wave retries.`,
  };
}
