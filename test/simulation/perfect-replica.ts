import { standsFor } from "./model-search.ts";
import {
  annotations,
  hasSchedulingHold,
  namedBy,
  optedIn,
  recordedHash,
  schedulerOf,
  schedulerOnHold,
} from "./model-workload.ts";
import type { BatchSettings, StoredObject } from "./record.ts";
import type { SmallStage } from "./small-stage.ts";

/** A perfect Wave that knows everything at once, built only from the model. */
export interface PerfectWave {
  /** Takes the Lease. */
  readonly lead: () => Promise<void>;
  /** Reads everything and makes all due writes. */
  readonly work: () => Promise<void>;
}

const plurals = { Deployment: "deployments", StatefulSet: "statefulsets", DaemonSet: "daemonsets" } as const;
const replica = "perfect#1";

/** Returns a replica that acts on the stored state in the history. */
export function perfectWave({ wave, history }: SmallStage, settings: BatchSettings): PerfectWave {
  const api = wave(replica);
  return {
    async lead() {
      const spec = { holderIdentity: replica, leaseTransitions: 0 };
      const body = { metadata: { name: "wave", namespace: "default" }, spec };
      await api.request("POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", { body });
    },
    async work() {
      const objects = new Map<string, StoredObject>();
      for (const { before, after } of history) {
        const object = after ?? before;
        const key = `${object?.kind}/${object?.metadata.namespace}/${object?.metadata.name}`;
        if (after === undefined) objects.delete(key);
        else objects.set(key, after);
      }
      for (const object of objects.values()) {
        if (Object.hasOwn(plurals, object.kind)) await roll(object, (key) => objects.get(key));
      }
    },
  };

  async function roll(workload: StoredObject, find: (key: string) => StoredObject | undefined): Promise<void> {
    const { name, namespace = "", deletionTimestamp } = workload.metadata;
    if (deletionTimestamp !== undefined || settings.namespaces?.includes(namespace) === false) return;
    const { hash, missing } = standsFor(namedBy(workload, settings), find);
    const isIn = optedIn(workload, settings);
    const lifts = hasSchedulingHold(workload) && (!isIn || !missing || !settings.schedulingHold);
    const records = isIn && !missing && hash !== undefined && hash !== recordedHash(workload);
    if (!lifts && !records) return;
    const scheduler = workload.metadata.annotations?.[annotations.schedulingHold];
    const body = {
      ...(lifts && { metadata: { annotations: { [annotations.schedulingHold]: null } } }),
      spec: {
        template: {
          ...(records && { metadata: { annotations: { [annotations.hash]: hash } } }),
          ...(lifts && schedulerOf(workload) === schedulerOnHold && { spec: { schedulerName: scheduler || null } }),
        },
      },
    };
    const path = `/apis/apps/v1/namespaces/${namespace}/${plurals[workload.kind as keyof typeof plurals]}/${name}`;
    const contentType = "application/merge-patch+json";
    const { status } = await api.request("PATCH", path, { body, contentType });
    if (status === 200) await tell(workload);
  }

  async function tell({ metadata: { uid, name, namespace } }: StoredObject): Promise<void> {
    const body = {
      metadata: { name: `${name}.${history.length}`, namespace },
      involvedObject: { uid, name, namespace },
      reason: "ConfigChanged",
      message: `write ${history.length}`,
      type: "Normal",
      reportingComponent: "wave",
      count: 1,
    };
    await api.request("POST", `/api/v1/namespaces/${namespace}/events`, { body });
  }
}
