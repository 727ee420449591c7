import type { HistoryEntry, Run } from "./history.ts";
import { gateScheduler, workloadResources } from "./model-workload.ts";

/**
 * Wave writes workloads, Events, its Lease and its webhook's registration, and deletes Pods that a gate holds: of the
 * world's configuration, or of anything else, nothing.
 */
export function judgePlaces({ history, scenario }: Run): readonly string[] {
  return history.flatMap((entry) => {
    if (entry.by.actor !== "wave" || isAllowed(entry, scenario.world.namespaces)) return [];
    const { namespace, name } = (entry.after ?? entry.before)?.metadata ?? {};
    return [
      `place: ${entry.by.replica} wrote ${entry.resource} ${namespace}/${name} (${entry.type}) at ${entry.at} ms`,
    ];
  });
}

const others = ["events", "leases", "mutatingwebhookconfigurations"];

function isAllowed({ resource, type, before, after }: HistoryEntry, worlds: readonly string[]): boolean {
  if (workloadResources.includes(resource) || others.includes(resource)) return true;
  const object = after ?? before;
  // The webhook's authority is a Secret in Wave's own namespace.
  if (resource === "secrets") return !worlds.includes(object?.metadata.namespace ?? "");
  if (resource !== "pods") return false;
  const { schedulerName, nodeName } = (object?.spec ?? {}) as {
    readonly schedulerName?: string;
    readonly nodeName?: string;
  };
  // A deletion is stored as a deletionTimestamp first where Pods take time to stop.
  const deletes = type === "DELETED" || object?.metadata.deletionTimestamp !== undefined;
  return deletes && schedulerName === gateScheduler && nodeName === undefined;
}
