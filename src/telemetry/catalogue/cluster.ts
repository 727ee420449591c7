import { counter, gauge } from "../metrics/metric-row.ts";

/** Statuses that the API server answers with; "other" has what is none of them, "error" is no answer at all. */
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

/** What is known of the cluster, and how. */
export const clusterMetrics = {
  requests: counter("wave_api_requests_total", {
    help: "Requests to the API server by verb and the status of the answer; error where none came",
    labels: { verb: ["get", "list", "watch", "create", "update", "patch", "delete", "other"], code: codes },
  }),
  reachable: gauge("wave_api_server_reachable", {
    help: "0 before the API server has answered, and while requests to it get no answer, else 1; whatever the answer is",
  }),
  restarts: counter("wave_watch_restarts_total", {
    help: "Watches that were begun again, by what ended them",
    labels: {
      resource: "each resource that is watched",
      reason: {
        ended: "the server ended it, as it does after some minutes",
        gone: "the server had forgotten where it was: everything was listed again",
        refused: "the server answered with a failure",
        connection: "the connection broke, or none could be made",
      },
    },
  }),
  lastHeard: gauge("wave_watch_last_heard_seconds", {
    help: "Time since anything was heard from the watches of a resource, bookmarks included, which come every minute",
    labels: { resource: "each resource that is watched for the caches" },
  }),
  synced: gauge("wave_caches_synced", {
    help: "1 once everything was listed that can be, before that 0: nothing is decided",
  }),
  objects: gauge("wave_cache_objects", {
    help: "Objects that the caches hold",
    labels: { kind: "each kind that is cached" },
  }),
  leftOut: gauge("wave_cache_left_out_objects", {
    help: "Objects that the caches hold by their name alone, because their namespace is beyond its budget",
  }),
  unserved: gauge("wave_cache_unsynced_namespaces", {
    help: "Namespaces of --namespaces that cannot be listed, so that nothing is decided there",
  }),
  leader: gauge("wave_leader", { help: "1 while this replica leads and rolls workloads, 0 while it stands by" }),
  transitions: gauge("wave_leader_transitions", {
    help: "How often the Lease has passed to another replica: its leaseTransitions, as this replica last read them",
    only: "--leader-election",
  }),
  hashKeyProblem: gauge("wave_hash_key_problem", {
    help: "1 while the Secret with the key of hashes is missing, damaged or cannot be read, else 0",
    only: "--hash-key-secret",
  }),
};
