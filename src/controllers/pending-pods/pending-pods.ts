import type { StoreChange } from "../../cache/store/store.ts";
import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../domain/model/workload.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { type PendingPodsOptions, PendingPodsSweep } from "./pending-pods-sweep.ts";

/**
 * Replaces Pods that a scheduling gate still holds after it was opened, by deleting them: they have never been on a
 * node. Deployments, and StatefulSets and DaemonSets that roll freely, do that by themselves. A StatefulSet of ordered
 * Pods does not: it waits for ever for the Pod that was held to become ready
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback); nor does anything with the
 * update strategy OnDelete.
 *
 * Anybody who may create Pods makes as many of these as they like, so a namespace is looked at by itself, a page at a
 * time, and then it is another's turn; what fails there is tried again there, and holds up nobody else.
 */
export interface PendingPods {
  /** To be told of every change of a workload: an opened gate asks for a look at its namespace. */
  onWorkloadChange(change: StoreChange<Workload>): void;
  /** To be told of every namespace whose Namespace says something else: its workloads may be observed no longer. */
  onNamespaceChange(namespace: string): void;
  /** To be told of every list: a gate may have been closed and opened again since the watch broke, of what is in no cache. */
  onListed(kind: string, namespace: string): void;
  /** Looks everywhere once, for gates that were opened while nobody led, and then where one opens, until the term ends. */
  run(leadership: Leadership): Promise<void>;
}

/** Nothing happens before `run`. */
export function createPendingPods(options: PendingPodsOptions): PendingPods {
  let look: PendingPodsSweep | undefined;
  return {
    onWorkloadChange({ before, after }) {
      const { row, namespace } = after ?? before ?? {};
      if (row === undefined || namespace === undefined || !row.leavesHeldPods) return;
      const wasObserved = before?.policy.mode === "observe" && after?.policy.mode !== "observe";
      if (wasObserved || mayHaveOpened(before, after)) look?.ask(namespace);
    },
    onNamespaceChange(namespace) {
      look?.ask(namespace);
    },
    onListed(kind, namespace) {
      if (options.caches.kinds().some(({ id, leavesHeldPods }) => id === kind && leavesHeldPods)) look?.ask(namespace);
    },
    async run(leadership) {
      look = new PendingPodsSweep(options, leadership);
      await look.run();
      look = undefined;
    },
  };
}

/**
 * Whether a gate was opened, or may have been closed and opened between two states that were seen: a watch that was cut
 * for a while, or a list, shows only the last one. Each is an edit of the spec, which raises the generation.
 */
function mayHaveOpened(before: Workload | undefined, after: Workload | undefined): boolean {
  // One that has opted out is in no cache once its gate is open.
  if (after === undefined) return before !== undefined && isSchedulingHeld(before);
  if (isSchedulingHeld(after)) return false;
  const seen = before?.uid === after.uid ? before : undefined;
  return (seen !== undefined && isSchedulingHeld(seen)) || after.generation - (seen?.generation ?? 0) > 1;
}
