import type { StoreChange } from "../../cache/store/store.ts";
import type { Config } from "../../domain/config/digest.ts";
import type { Workload } from "../../domain/model/workload.ts";
import { isStored } from "../../domain/references/references.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import type { WritePermits } from "../../runtime/write-permits.ts";
import { ownerReferenceMetrics } from "../../telemetry/catalogue/owner-references.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { OwnerReferenceWorkers, type OwnerReferenceWorkersOptions } from "./owner-reference-workers.ts";

/** What {@link createOwnership} needs. */
interface OwnershipOptions extends Omit<OwnerReferenceWorkersOptions, "leadership" | "permits" | "writes" | "post"> {
  readonly metrics: MetricsRegistry;
}

/** Keeps or removes owner references and finalizers while Wave leads. Receives changes, which have no effect otherwise. */
interface Ownership {
  onWorkloadChange(change: StoreChange<Workload>): void;
  onConfigChange(change: StoreChange<Config>): void;
  onOwnersChange(configKey: string): void;
  onNamespaceChange(namespace: string): void;
  /** Works for one leadership. The caches must be synced. `post` accepts Events. */
  run(leadership: Leadership, permits: WritePermits, post: (event: ObjectEvent) => void): Promise<void>;
}

/** Returns the controller; undefined if the policy has no ownership, or Wave writes nothing. Nothing happens before `run`. */
export function createOwnership(options: OwnershipOptions): Ownership | undefined {
  const { policy } = options;
  if (policy.ownership === undefined || policy.pacing?.observe) return undefined;
  const writes = options.metrics.counter(ownerReferenceMetrics.writes);
  let workers: OwnerReferenceWorkers | undefined;
  return {
    onWorkloadChange: (change) => workers?.workloadChanged(change),
    onConfigChange: ({ key, before, after }) => {
      if (before === undefined && after !== undefined && isStored(after)) workers?.objectChanged(key);
    },
    onOwnersChange: (key) => workers?.objectChanged(key),
    onNamespaceChange: (namespace) => workers?.enqueueAll(namespace),
    async run(leadership, permits, post) {
      workers = new OwnerReferenceWorkers({ ...options, leadership, permits, writes, post });
      try {
        await workers.run();
      } finally {
        workers = undefined;
      }
    },
  };
}
