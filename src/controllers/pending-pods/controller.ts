// The pending-Pods controller: reports what pending Pods wait for, and replaces Pods that are still pending after their scheduling hold was
// removed.
import type { StoreChange } from "../../cache/store/store.ts";
import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import type { Leadership, WritePermits } from "../../runtime/write-permits.ts";
import { PendingPodsSweep } from "./reconcile.ts";
import type { PendingPodsOptions } from "./report.ts";

/**
 * Deletes Pods that are still pending after their scheduling hold was removed: they have never been on a node.
 * Deployments, and StatefulSets and DaemonSets with a rolling update, replace such Pods by themselves. A StatefulSet with
 * ordered Pods does not: it waits for ever until the pending Pod is ready
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback). The same is true for the update
 * strategy OnDelete.
 *
 * Anyone who may create Pods can create any number of them. So each namespace is listed separately, one page at a time, and
 * the namespaces take turns. A failure is retried in its namespace and delays no other.
 */
interface PendingPods {
  /** Receives every change of a workload: if it had a scheduling hold, its namespace is searched. */
  onWorkloadChange(change: StoreChange<Workload>): void;
  /** Receives every namespace whose Namespace annotations changed: its workloads may have left observe mode. */
  onNamespaceChange(namespace: string): void;
  /** Receives every namespace in which a workload waits with a scheduling hold: its Pods get an Event. */
  onWaiting(namespace: string): void;
  /** Receives every list: a hold of an uncached workload may have been added and removed while the watch was broken. */
  onListed(kind: string, namespace: string): void;
  /** Searches everywhere once, for holds that were removed without a leader, and then after each removal. */
  run(leadership: Leadership, permits: WritePermits): Promise<void>;
}

/** Returns the controller. Nothing happens before `run`. */
export function createPendingPods(options: PendingPodsOptions): PendingPods {
  let sweep: PendingPodsSweep | undefined;
  return {
    onWorkloadChange({ before, after }) {
      const { row, namespace } = after ?? before ?? {};
      if (row === undefined || namespace === undefined) return;
      if (!row.keepsPendingPods) return;
      const wasObserved = before?.policy.mode === "observe" && after?.policy.mode !== "observe";
      if (wasObserved || mayBeReleased(before, after)) sweep?.enqueue(namespace);
    },
    onNamespaceChange(namespace) {
      sweep?.enqueue(namespace);
    },
    onWaiting: (namespace) => sweep?.enqueueReport(namespace),
    onListed(kind, namespace) {
      if (options.caches.kinds().some(({ id, keepsPendingPods }) => id === kind && keepsPendingPods))
        sweep?.enqueue(namespace);
    },
    async run(leadership, permits) {
      sweep = new PendingPodsSweep(options, leadership, permits);
      try {
        await sweep.run();
      } finally {
        sweep = undefined;
      }
    },
  };
}

/**
 * Reports whether a scheduling hold was removed, or may have been added and removed between two seen states: after a gap
 * in the watch, or in a list, only the last state is seen. Each is an edit of the spec, which raises the generation.
 */
function mayBeReleased(before: Workload | undefined, after: Workload | undefined): boolean {
  // A workload that has opted out leaves the caches when its hold is removed.
  if (after === undefined) return before !== undefined && isSchedulingHeld(before);
  if (isSchedulingHeld(after)) return false;
  const seen = before?.uid === after.uid ? before : undefined;
  return (seen !== undefined && isSchedulingHeld(seen)) || after.generation - (seen?.generation ?? 0) > 1;
}
