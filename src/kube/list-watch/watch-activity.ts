import type { Clock } from "../../lib/clock.ts";
import { clusterMetrics } from "../../telemetry/catalogue/cluster.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";

/** A watch without data for this time may be stale. Bookmarks arrive about every minute. */
const silentAfterMs = 90_000;

interface TrackedWatch {
  readonly plural: string;
  /** "secrets", or "secrets in default". */
  readonly what: string;
  heardAt: number;
  lostAt: number | undefined;
}

/**
 * Tracks when each watch last received data: a silent watch means that the caches may be stale. Sets
 * `wave_watch_last_heard_seconds` to the longest silence among the watches of each resource.
 */
export function createWatchActivity(clock: Clock, metrics: MetricsRegistry) {
  const watches = new Set<TrackedWatch>();
  const silence = ({ heardAt }: TrackedWatch) => clock.monotonic() - heardAt;
  const gauge = metrics.gauge(clusterMetrics.lastHeard);
  gauge.collect(() => {
    const longest = new Map<string, number>();
    for (const watch of watches) longest.set(watch.plural, Math.max(longest.get(watch.plural) ?? 0, silence(watch)));
    for (const [resource, ms] of longest) gauge.set(ms / 1000, { resource });
  });
  return {
    /** Tracks one watch until the signal is aborted. Call the returned functions as `ListWatchOptions` describes them. */
    start: (plural: string, namespace: string | undefined, signal?: AbortSignal) => {
      const what = namespace === undefined ? plural : `${plural} in ${namespace}`;
      const watch = { plural, what, heardAt: clock.monotonic(), lostAt: clock.monotonic() as number | undefined };
      watches.add(watch);
      signal?.addEventListener("abort", () => watches.delete(watch), { once: true });
      return {
        heard: () => {
          watch.heardAt = clock.monotonic();
        },
        lost: () => {
          watch.lostAt ??= clock.monotonic();
        },
        resumed: () => {
          watch.lostAt = undefined;
        },
      };
    },
    /** Returns since when a watch may miss changes, in monotonic milliseconds; undefined if no watch does. */
    lostSince: () => {
      const lost = [...watches].flatMap(({ lostAt }) => lostAt ?? []);
      return lost.length === 0 ? undefined : Math.min(...lost);
    },
    /** Returns one line for each watch without data for 90 s, at most 10. */
    silentWatches: () =>
      [...watches]
        .filter((watch) => silence(watch) > silentAfterMs)
        .slice(0, 10)
        .map((watch) => `no data from the watch of ${watch.what} for ${Math.round(silence(watch) / 1000)} s`),
  };
}
