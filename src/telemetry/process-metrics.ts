import { monitorEventLoopDelay } from "node:perf_hooks";
import { processMetrics } from "./catalogue/process.ts";
import type { MetricsRegistry } from "./metrics/metrics.ts";

/** Interval of the measurement of the event loop delay, in native code, without waking JavaScript. */
const resolutionMs = 20;

/** Adds the process metrics, named as in the official Prometheus clients, and `wave_build_info`. Reads values on each render. */
export function addProcessMetrics(registry: MetricsRegistry, version: string): void {
  registry.gauge(processMetrics.build).set(1, { version });
  registry.gauge(processMetrics.start).set(Math.round(performance.timeOrigin) / 1000);

  const cpu = registry.counter(processMetrics.cpu);
  let counted = 0;
  cpu.collect(() => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    cpu.inc({}, Math.max(0, seconds - counted));
    counted = seconds;
  });

  const resident = registry.gauge(processMetrics.resident);
  const heapUsed = registry.gauge(processMetrics.heapUsed);
  const heapTotal = registry.gauge(processMetrics.heapTotal);
  const external = registry.gauge(processMetrics.external);
  resident.collect(() => {
    const memory = process.memoryUsage();
    resident.set(memory.rss);
    heapUsed.set(memory.heapUsed);
    heapTotal.set(memory.heapTotal);
    external.set(memory.external);
  });
  const delay = registry.gauge(processMetrics.eventLoopDelay);
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  delay.collect(() => {
    // The histogram has the time between two measurements, in nanoseconds. Before the second measurement it is empty.
    delay.set(Math.max(0, delays.count === 0 ? 0 : delays.max / 1e9 - resolutionMs / 1e3));
    delays.reset();
  });
}
