import type { KubeObject } from "../kube/api-types.ts";
import { type Resource, resources } from "../kube/resources.ts";
import { configKey } from "../rollout/references.ts";
import { hasGate } from "../rollout/scheduling-gate.ts";
import {
  isMadeOf,
  sameWorkload,
  toWorkload,
  type Workload,
  type WorkloadKind,
  type WorkloadObject,
} from "../rollout/workload.ts";
import type { Logger } from "../telemetry/log.ts";
import { KindCache } from "./kind-cache.ts";
import type { ReferenceIndex } from "./reference-index.ts";
import type { StoreChange } from "./store.ts";

interface Options {
  /** Undefined for all. */
  readonly namespaces: readonly string[] | undefined;
  readonly log: Logger;
  readonly onWorkloadChange: (change: StoreChange<Workload>) => void;
}

type WorkloadCache = KindCache<KubeObject & WorkloadObject, Workload>;

/** The caches of the workloads that concern Wave; `index` follows what they read. */
export function workloadCaches(options: Options, index: ReferenceIndex): Readonly<Record<WorkloadKind, WorkloadCache>> {
  const { namespaces, log, onWorkloadChange } = options;
  const onChange = (change: StoreChange<Workload>) => {
    index.set(change.key, change.after?.references.map(configKey) ?? []);
    onWorkloadChange(change);
  };
  const cache = (kind: WorkloadKind, resource: Resource): WorkloadCache =>
    new KindCache({
      resource,
      namespaces,
      transform: (object, held) => {
        if (held !== undefined && isMadeOf(held, object)) return held;
        const workload = toWorkload(kind, object);
        return concernsWave(workload) ? workload : undefined;
      },
      same: sameWorkload,
      onChange,
      log,
    });
  return {
    Deployment: cache("Deployment", resources.deployments),
    StatefulSet: cache("StatefulSet", resources.statefulSets),
    DaemonSet: cache("DaemonSet", resources.daemonSets),
  };
}

function concernsWave(workload: Workload): boolean {
  return workload.optIn.state !== "out" || hasGate(workload) || workload.mistakes.length > 0;
}
