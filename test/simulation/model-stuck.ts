import { isOwnedBy } from "./judge-excuses.ts";
import type { HistoryEntry, StoredObject } from "./record.ts";

/** Reports whether a Pod of a workload waits for a node at a time. */
export function isStuck(workload: string, at: number, history: readonly HistoryEntry[]): boolean {
  return [...podsAt(at, history)].some(([uid, pod]) => isUnschedulable(pod) && isOwnedBy(uid, workload, history));
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

function isUnschedulable({ status }: StoredObject): boolean {
  const { conditions = [] } = (status ?? {}) as {
    readonly conditions?: readonly Readonly<Record<"type" | "reason", string>>[];
  };
  return conditions.some(({ type, reason }) => type === "PodScheduled" && reason === "Unschedulable");
}
