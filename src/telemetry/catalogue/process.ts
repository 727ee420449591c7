import { counter, gauge } from "../metrics/series.ts";

/** Metrics of the process. Names are those of the official Prometheus clients where these have one. */
export const processMetrics = {
  build: gauge("wave_build_info", {
    help: "Always 1. The label has the version.",
    labels: { version: "version of Wave" },
  }),
  start: gauge("process_start_time_seconds", { help: "Start time of the process, in seconds since the epoch." }),
  cpu: counter("process_cpu_seconds_total", { help: "User and system CPU time." }),
  resident: gauge("process_resident_memory_bytes", { help: "Resident memory." }),
  heapUsed: gauge("nodejs_heap_size_used_bytes", { help: "Memory used by JavaScript objects." }),
  heapTotal: gauge("nodejs_heap_size_total_bytes", { help: "Memory reserved for JavaScript objects." }),
  external: gauge("nodejs_external_memory_bytes", { help: "Memory of buffers outside the JavaScript heap." }),
  eventLoopDelay: gauge("wave_event_loop_delay_seconds", {
    help: "Longest delay of the event loop since the last scrape.",
  }),
  droppedConnections: counter("wave_http_connections_dropped_total", {
    help: "Number of connections that Wave closed because there were too many.",
    labels: { server: ["metrics", "probes", "webhook"] },
  }),
};
