import { schedulerOnHold, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording } from "./record.ts";

/**
 * Judges the place of writes: Wave writes workloads, pinned copies, Events, its Lease and the registration of its webhook, and deletes Pods
 * with a scheduling hold, and mixed Pods. It writes nothing else, and no configuration of others.
 */
export function judgePlaces({ history }: Recording): readonly string[] {
  return history.flatMap((entry) => {
    if (entry.by.actor !== "wave" || isAllowed(entry)) return [];
    const { namespace, name } = (entry.after ?? entry.before)?.metadata ?? {};
    return [
      `place: ${entry.by.replica} wrote ${entry.resource} ${namespace}/${name} (${entry.type}) at ${entry.at} ms`,
    ];
  });
}

const others = ["events", "leases", "mutatingwebhookconfigurations"];

function isAllowed({ resource, type, before, after }: HistoryEntry): boolean {
  if (workloadResources.includes(resource) || others.includes(resource)) return true;
  const object = after ?? before;
  if (resource === "configmaps") return object?.metadata.labels?.["wave.pusher.com/pinned-copy"] === "true";
  // The certificate Secret of its webhook, in its own namespace.
  if (resource === "secrets") return object?.metadata.name.endsWith("-authority") ?? false;
  if (resource !== "pods") return false;
  const { schedulerName, nodeName } = (object?.spec ?? {}) as {
    readonly schedulerName?: string;
    readonly nodeName?: string;
  };
  // If Pods take time to stop, a deletion is first stored as a deletionTimestamp.
  const deletes = type === "DELETED" || object?.metadata.deletionTimestamp !== undefined;
  // judge-mixed.ts judges deletions of Pods that have started.
  if (deletes && nodeName !== undefined) return true;
  return deletes && schedulerName === schedulerOnHold && nodeName === undefined;
}
