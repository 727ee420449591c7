// The collector of pinned copies: deletes copies that nothing uses, and stores copies again that were deleted while in use. Its only record
// is the mark in each copy.
import type { StoreChange } from "../../cache/store/store.ts";
import type { Config } from "../../domain/config/digest.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { unusedMs } from "../../domain/pinning/collect.ts";
import type { Leadership, WritePermits } from "../../runtime/write-permits.ts";
import { pinnedCopyMetrics } from "../../telemetry/catalogue/pinned-copies.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { type CollectorTimes, CopySweeps, type CopySweepsOptions } from "./sweep.ts";

/** Deletes unused pinned copies while Wave leads. Receives changes, which have no effect otherwise. */
interface CopyCollector {
  /** Receives every change of a workload: if its pins changed, its namespace is swept some time later. */
  onWorkloadChange(change: StoreChange<Workload>): void;
  /** Receives every change of a ConfigMap: if a copy was deleted, its namespace is swept soon. */
  onConfigChange(change: StoreChange<Config>): void;
  /** Works for one leadership. */
  run(leadership: Leadership, permits: WritePermits): Promise<void>;
}

/** The times of the collector. */
export const collectorTimes: CollectorTimes = {
  sweepMs: 600_000,
  afterRolloutMs: 120_000,
  waitMs: unusedMs,
  seenMs: 600_000,
};

/** The delay of the sweep after the deletion of a copy, in milliseconds: the copies of a deleted workload are deleted one by one. */
const afterDeletionMs = 2_000;

/** Returns the controller; undefined without pinned configuration, or if Wave writes nothing. Nothing happens before `run`. */
export function createCopyCollector(
  options: Omit<CopySweepsOptions, "leadership" | "permits" | "writes" | "times"> & {
    readonly metrics: MetricsRegistry;
    /** Default: {@link collectorTimes}. */
    readonly collectorTimes?: CollectorTimes;
  },
): CopyCollector | undefined {
  const { policy, metrics, collectorTimes: times = collectorTimes } = options;
  if (policy.pinConfig !== true || policy.pacing?.observe) return undefined;
  const writes = metrics.counter(pinnedCopyMetrics.writes);
  let sweeps: CopySweeps | undefined;
  const gauge = metrics.gauge(pinnedCopyMetrics.copies);
  gauge.collect(() => {
    const total = { running: 0, old: 0, unused: 0 };
    for (const counts of sweeps?.counts ?? []) {
      for (const use of uses) total[use] += counts[use];
    }
    for (const use of uses) gauge.set(total[use], { use });
  });
  return {
    onWorkloadChange({ before, after }) {
      if (before?.pinned === after?.pinned) return;
      sweeps?.enqueue((after ?? before)?.namespace ?? "", times.afterRolloutMs);
    },
    onConfigChange({ before, after }) {
      if (before?.isCopy && after === undefined) sweeps?.enqueue(before.namespace, afterDeletionMs);
    },
    async run(leadership, permits) {
      sweeps = new CopySweeps({ ...options, leadership, permits, writes, times });
      try {
        await sweeps.run();
      } finally {
        sweeps = undefined;
      }
    },
  };
}

const uses = ["running", "old", "unused"] as const;
