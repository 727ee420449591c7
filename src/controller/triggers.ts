import type { Caches } from "../cache/caches.ts";
import type { StoreChange } from "../cache/store.ts";
import type { Priority } from "../lib/work-queue.ts";

/** Asks for a workload to be planned. */
export type Enqueue = (workloadKey: string, priority: Priority) => void;

/**
 * A ConfigMap or Secret that changed asks for every workload that reads it, whether it exists or not; one that nobody
 * reads asks for nothing. What a list brings (at the start, or after a gap in the watch) lets single changes go first.
 */
export function triggerReaders(
  change: StoreChange<unknown>,
  caches: Pick<Caches, "workloadsReading">,
  enqueue: Enqueue,
): void {
  for (const key of caches.workloadsReading(change.key)) enqueue(key, priorityOf(change));
}

/** A workload that changed, came or went asks for itself. */
export function triggerItself(change: StoreChange<unknown>, enqueue: Enqueue): void {
  enqueue(change.key, priorityOf(change));
}

function priorityOf({ initial }: StoreChange<unknown>): Priority {
  return initial ? "low" : "high";
}
