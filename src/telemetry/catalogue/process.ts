import { counter, gauge } from "../metrics/metric-row.ts";

/** What every process tells, under the names that Prometheus' own clients use where these have one. */
export const processMetrics = {
  build: gauge("wave_build_info", { help: "Always 1", labels: { version: "Wave's version" } }),
  start: gauge("process_start_time_seconds", { help: "When the process started, in seconds since the epoch" }),
  cpu: counter("process_cpu_seconds_total", { help: "User and system CPU time spent" }),
  resident: gauge("process_resident_memory_bytes", { help: "Resident memory" }),
  heapUsed: gauge("nodejs_heap_size_used_bytes", { help: "Memory used by JavaScript objects" }),
  heapTotal: gauge("nodejs_heap_size_total_bytes", { help: "Memory set aside for JavaScript objects" }),
  external: gauge("nodejs_external_memory_bytes", { help: "Memory of buffers outside the heap" }),
  eventLoopDelay: gauge("wave_event_loop_delay_seconds", {
    help: "The longest time that anything had to wait for the event loop since the last scrape",
  }),
  droppedConnections: counter("wave_http_connections_dropped_total", {
    help: "Connections that were closed because there were too many",
    labels: { server: ["metrics", "probes", "webhook"] },
  }),
};
