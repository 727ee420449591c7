// The controller of mixed Pods: Pods that may run configuration that was reverted. It remembers when the live configuration of each
// workload differed from that of its recorded hash, and replaces the Pods whose containers started in between. With webhooks, it also
// replaces Pods that read no copy although their template names copies.
import { mixedPodMetrics } from "../../telemetry/catalogue/mixed-pods.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { createRunObserver, type RunObserver, type RunObserverOptions } from "../observers/run-observer.ts";
import { Repairs, type RepairsOptions } from "./repairs.ts";

/** What {@link createMixedPods} needs. */
export interface MixedPodsOptions
  extends RunObserverOptions,
    Omit<RepairsOptions, "policy" | "leadership" | "permits"> {
  readonly metrics: MetricsRegistry;
}

/** Replaces mixed Pods while Wave leads. */
export interface MixedPods extends RunObserver {
  /** Receives a workload with a Pod that reads no copy although its template names copies, by its key. */
  readonly podsUnpinned: (key: string) => void;
}

/** Returns the controller, which replaces mixed Pods while Wave leads; undefined if Wave writes nothing. */
export function createMixedPods(options: MixedPodsOptions): MixedPods | undefined {
  const { metrics } = options;
  const observer = createRunObserver(options, (leadership, permits) => {
    return new Repairs({ ...options, leadership, permits });
  });
  if (observer === undefined) return undefined;
  const mixed = metrics.gauge(mixedPodMetrics.mixed);
  mixed.collect(() => mixed.set(observer.term?.mixedPods ?? 0));
  const workloads = metrics.gauge(mixedPodMetrics.workloads);
  workloads.collect(() => workloads.set(observer.term?.mixedWorkloads ?? 0));
  return Object.assign(observer, { podsUnpinned: (key: string) => observer.term?.podsUnpinned(key) });
}
