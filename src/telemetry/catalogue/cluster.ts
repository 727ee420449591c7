import { counter, gauge } from "../metrics/series.ts";

/** HTTP statuses of the API server. "other" is any other status; "error" is a request without a response. */
const codes = [
  "200",
  "201",
  "202",
  "400",
  "401",
  "403",
  "404",
  "405",
  "409",
  "410",
  "413",
  "415",
  "422",
  "429",
  "500",
  "502",
  "503",
  "504",
  "other",
  "error",
] as const;

/** Metrics of the connection to the cluster, the caches and the leadership. */
export const clusterMetrics = {
  requests: counter("wave_api_requests_total", {
    help: "Number of requests to the API server, by verb and status. The code is error if no response arrived.",
    labels: { verb: ["get", "list", "watch", "create", "update", "patch", "delete", "other"], code: codes },
  }),
  reachable: gauge("wave_api_server_reachable", {
    help: "1 if the API server responds, with any status; 0 before its first response and while requests get no response.",
  }),
  restarts: counter("wave_watch_restarts_total", {
    help: "Number of times that Wave started a watch again, by the reason why the watch ended.",
    labels: {
      resource: "each watched resource",
      reason: {
        ended: "The API server ended the watch, as it does after some minutes",
        gone: "The API server no longer had the position of the watch; Wave listed everything again",
        refused: "The API server responded with an error",
        connection: "The connection broke, or Wave could not connect",
      },
    },
  }),
  lastHeard: gauge("wave_watch_last_heard_seconds", {
    help: "Longest time since a watch of the resource received data. Bookmarks arrive about every minute.",
    labels: { resource: "each resource that is watched for the caches" },
  }),
  clusterHold: gauge("wave_cluster_hold", {
    help: "1 while the annotation hold-cluster on the Namespace of Wave holds every rollout, otherwise 0.",
  }),
  synced: gauge("wave_caches_synced", {
    help: "1 after Wave has listed everything that it can list; 0 before that, while it decides nothing.",
  }),
  objects: gauge("wave_cache_objects", {
    help: "Number of objects in the caches.",
    labels: { kind: "each cached kind" },
  }),
  leftOut: gauge("wave_cache_left_out_objects", {
    help: "Number of objects that are cached by name only, because their namespace exceeds the memory limit.",
  }),
  unserved: gauge("wave_cache_unsynced_namespaces", {
    help: "Number of namespaces of --namespaces that Wave cannot list. Wave decides nothing there.",
  }),
  leader: gauge("wave_leader", { help: "1 if this replica is the leader and rolls workloads; 0 if it is on standby." }),
  transitions: gauge("wave_leader_transitions", {
    help: "Number of times that the Lease passed to another replica: the field leaseTransitions of the Lease, as this replica last read it.",
    only: "--leader-election",
  }),
  gateAnswers: gauge("wave_gate_prometheus_answers", {
    help: "1 if Prometheus answered the last query for alerts, 0 if it did not. Wave queries only while a rollout waits or is in progress.",
    only: "--gate-prometheus-url",
  }),
  gateQueries: counter("wave_gate_queries_total", {
    help: "Number of queries for alerts, by result.",
    labels: { result: { answered: "Prometheus answered", failed: "Prometheus did not answer, or sent an error" } },
    only: "--gate-prometheus-url",
  }),
  hashKeyProblem: gauge("wave_hash_key_problem", {
    help: "1 if the Secret with the hash key is missing, damaged or unreadable; otherwise 0.",
    only: "--hash-key-secret",
  }),
};
