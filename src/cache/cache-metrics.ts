import type { MetricsRegistry } from "../telemetry/metrics.ts";
import type { Allotments } from "./allotments.ts";
import type { ServedNamespaces } from "./served-namespaces.ts";

/** Shows what caches hold, what they have left out, and which namespaces they cannot serve. */
export function cacheMetrics(
  metrics: MetricsRegistry,
  kinds: readonly { readonly kind: string; readonly size: number }[],
  allotments: Allotments,
  served: ServedNamespaces,
): void {
  const objects = metrics.gauge("wave_cache_objects", "Objects that the caches hold.", ["kind"]);
  objects.collect(() => {
    for (const { kind, size } of kinds) objects.set(size, { kind });
  });
  const leftOut = metrics.gauge(
    "wave_cache_left_out_objects",
    "Objects that the caches hold by their name alone, because their namespace is beyond its budget.",
  );
  leftOut.collect(() => leftOut.set(allotments.leftOut));
  const unserved = metrics.gauge(
    "wave_cache_unserved_namespaces",
    "Namespaces of --namespaces that cannot be listed, so that nothing is decided there.",
  );
  unserved.collect(() => unserved.set(served.failures));
}
