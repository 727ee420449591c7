import { schedulerOnHold, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording } from "./record.ts";

/**
 * Wave writes workloads, Events, its Lease and its webhook's registration, and deletes Pods that a gate holds:
 * nothing else, and no configuration.
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
  // That of its webhook, in its own namespace.
  if (resource === "secrets") return object?.metadata.name.endsWith("-authority") ?? false;
  if (resource !== "pods") return false;
  const { schedulerName, nodeName } = (object?.spec ?? {}) as {
    readonly schedulerName?: string;
    readonly nodeName?: string;
  };
  // A deletion is stored as a deletionTimestamp first where Pods take time to stop.
  const deletes = type === "DELETED" || object?.metadata.deletionTimestamp !== undefined;
  return deletes && schedulerName === schedulerOnHold && nodeName === undefined;
}
