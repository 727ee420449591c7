import { isOwnedBy } from "./judge-excuses.ts";
import type { HistoryEntry, StoredObject } from "./record.ts";

/** Reports whether a Pod of a workload waits for a node at a time. */
export function isStuck(workload: string, at: number, history: readonly HistoryEntry[]): boolean {
  return [...podsAt(at, history)].some(
    ([uid, pod]) => waitsSince(pod) !== undefined && isOwnedBy(uid, workload, history),
  );
}

/** Reports whether Pods of a workload wait for a node for this time, and no other Pod of it is on a node and not ready. */
export function isOnlyStuck(
  workload: string,
  at: number,
  forMs: number,
  epoch: number,
  history: readonly HistoryEntry[],
) {
  const own = [...podsAt(at, history)].filter(([uid]) => isOwnedBy(uid, workload, history)).map(([, pod]) => pod);
  const waiting = own.filter((pod) => (waitsSince(pod) ?? Number.POSITIVE_INFINITY) <= epoch + at - forMs);
  return waiting.length > 0 && own.every((pod) => waitsSince(pod) !== undefined || isReady(pod));
}

function podsAt(at: number, history: readonly HistoryEntry[]): ReadonlyMap<string, StoredObject> {
  const pods = new Map<string, StoredObject>();
  for (const entry of history) {
    if (entry.at > at) break;
    if (entry.resource !== "pods") continue;
    const uid = (entry.after ?? entry.before)?.metadata.uid ?? "";
    if (entry.after === undefined) pods.delete(uid);
    else pods.set(uid, entry.after);
  }
  return pods;
}

type Condition = Readonly<Record<"type" | "status" | "reason" | "lastTransitionTime", string>>;

function conditionOf(pod: StoredObject, type: string): Condition | undefined {
  const { conditions = [] } = (pod.status ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions.find((each) => each.type === type);
}

/** Returns since when no node has room for a Pod, in milliseconds since the epoch; undefined if it has a node. */
function waitsSince(pod: StoredObject): number | undefined {
  const scheduled = conditionOf(pod, "PodScheduled");
  return scheduled?.reason === "Unschedulable" ? Date.parse(scheduled.lastTransitionTime) : undefined;
}

function isReady(pod: StoredObject): boolean {
  return conditionOf(pod, "Ready")?.status === "True";
}
