import type { Clock } from "../../lib/clock.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";

/** Bookmarks come about every minute: who has heard nothing for longer than this may be behind. */
const lateAfterMs = 90_000;

interface Watch {
  readonly plural: string;
  /** "secrets", or "secrets in default". */
  readonly what: string;
  heardAt: number;
}

/** When something was last heard of what is watched: it tells whether what is known of the cluster is current. */
export interface WatchActivity {
  /** Counts for one watch until the signal. The returned function is to be called whenever anything comes from it. */
  readonly start: (plural: string, namespace: string | undefined, signal?: AbortSignal) => () => void;
  /** One line for each watch of which nothing was heard for 90 s, at most 10. */
  readonly silentWatches: () => readonly string[];
}

/** Also the metric `wave_watch_last_heard_seconds`: of each resource the watch that has been silent for longest. */
export function createWatchActivity(clock: Clock, metrics: MetricsRegistry): WatchActivity {
  const watches = new Set<Watch>();
  const silence = ({ heardAt }: Watch) => clock.monotonic() - heardAt;
  const gauge = metrics.gauge(clusterMetrics.lastHeard);
  gauge.collect(() => {
    const longest = new Map<string, number>();
    for (const watch of watches) longest.set(watch.plural, Math.max(longest.get(watch.plural) ?? 0, silence(watch)));
    for (const [resource, ms] of longest) gauge.set(ms / 1000, { resource });
  });
  return {
    start: (plural, namespace, signal) => {
      const what = namespace === undefined ? plural : `${plural} in ${namespace}`;
      const watch = { plural, what, heardAt: clock.monotonic() };
      watches.add(watch);
      signal?.addEventListener("abort", () => watches.delete(watch), { once: true });
      return () => {
        watch.heardAt = clock.monotonic();
      };
    },
    silentWatches: () =>
      [...watches]
        .filter((watch) => silence(watch) > lateAfterMs)
        .slice(0, 10)
        .map((watch) => `nothing was heard of ${watch.what} for ${Math.round(silence(watch) / 1000)} s`),
  };
}
