import { monitorEventLoopDelay } from "node:perf_hooks";
import type { MetricsRegistry } from "./metrics.ts";

/** How often the delay of the event loop is looked at, in native code, without waking JavaScript. */
const resolutionMs = 20;

/**
 * Adds what every process tells, under the names that Prometheus' own clients use, and `wave_build_info`.
 * All of it is read when the metrics are rendered.
 */
export function addProcessMetrics(registry: MetricsRegistry, version: string): void {
  registry.gauge("wave_build_info", "Always 1; the label tells Wave's version.", ["version"]).set(1, { version });
  registry
    .gauge("process_start_time_seconds", "When the process started, in seconds since the epoch.")
    .set(Math.round(performance.timeOrigin) / 1000);

  const cpu = registry.counter("process_cpu_seconds_total", "User and system CPU time spent, in seconds.");
  let counted = 0;
  cpu.collect(() => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6;
    cpu.inc({}, Math.max(0, seconds - counted));
    counted = seconds;
  });

  const resident = registry.gauge("process_resident_memory_bytes", "Resident memory, in bytes.");
  const heapUsed = registry.gauge("nodejs_heap_size_used_bytes", "Memory used by JavaScript objects, in bytes.");
  const heapTotal = registry.gauge(
    "nodejs_heap_size_total_bytes",
    "Memory set aside for JavaScript objects, in bytes.",
  );
  const external = registry.gauge("nodejs_external_memory_bytes", "Memory of buffers outside the heap, in bytes.");
  resident.collect(() => {
    const memory = process.memoryUsage();
    resident.set(memory.rss);
    heapUsed.set(memory.heapUsed);
    heapTotal.set(memory.heapTotal);
    external.set(memory.external);
  });
  const delay = registry.gauge(
    "wave_event_loop_delay_seconds",
    "The longest time that anything had to wait for the event loop since the last scrape.",
  );
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  delay.collect(() => {
    // It counts the time from one look to the next, in nanoseconds; before the second look there is none.
    delay.set(Math.max(0, delays.count === 0 ? 0 : delays.max / 1e9 - resolutionMs / 1e3));
    delays.reset();
  });
}
