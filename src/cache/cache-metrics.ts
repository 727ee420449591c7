import { clusterMetrics } from "../telemetry/catalogue/cluster.ts";
import type { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import type { SyncedNamespaces } from "./namespaces/synced-namespaces.ts";
import type { NamespaceLimits } from "./store/namespace-limits.ts";

/** Sets the metrics of the caches: objects, left out objects, unsynced namespaces, whether all caches are synced, and whether every rollout is held. */
export function cacheMetrics(
  metrics: MetricsRegistry,
  kinds: () => readonly { readonly kind: string; readonly size: number }[],
  namespaceLimits: NamespaceLimits,
  syncedNamespaces: SyncedNamespaces,
  isSynced: () => boolean,
  isHeld: () => boolean,
): void {
  const objects = metrics.gauge(clusterMetrics.objects);
  objects.collect(() => {
    for (const { kind, size } of kinds()) objects.set(size, { kind });
  });
  const leftOut = metrics.gauge(clusterMetrics.leftOut);
  leftOut.collect(() => leftOut.set(namespaceLimits.leftOut));
  const unserved = metrics.gauge(clusterMetrics.unserved);
  unserved.collect(() => unserved.set(syncedNamespaces.failureCount));
  const held = metrics.gauge(clusterMetrics.clusterHold);
  held.collect(() => held.set(isHeld() ? 1 : 0));
  const synced = metrics.gauge(clusterMetrics.synced);
  synced.collect(() => synced.set(isSynced() ? 1 : 0));
}
