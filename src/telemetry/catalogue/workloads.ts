import { counter, gauge, histogram } from "../metrics/series.ts";

const kind = "each watched kind of workload";
const hold = "each [hold](pacing.md#holds-in-order)";

/** Results of planning a workload. The field `outcome` of log lines has the same values. */
const outcomes = {
  roll: "Wave wrote the hash of a changed configuration; Kubernetes replaces the Pods (Event `ConfigChanged`)",
  firstHash:
    "Wave wrote the first hash, or released the scheduling hold of a new workload with it (`ConfigHashAdded`, `SchedulingEnabled`)",
  complete: "A rollout by Wave is complete (`RolloutComplete`)",
  failed: "A rollout by Wave failed (`RolloutFailed`)",
  stuck: "A rollout by Wave is stuck (`RolloutStuck`)",
  resolved: "A rollout is complete after a failed or stuck rollout of the same workload (`RolloutResolved`)",
  recorded: "Wave recorded the current configuration without a restart (`ConfigRecorded`)",
  cleanUp:
    "Wave released a scheduling hold or unpaused a Deployment, without a rollout (`SchedulingEnabled`, `SchedulingHoldExpired`, `Unpaused`)",
  waiting: "The workload started to wait for a missing object or key (`ConfigMissing`, `SchedulingDisabled`)",
  overLimit: "The workload started to exceed a limit (`OverLimit`)",
  held: "A due rollout started to be held (`RolloutHeld`, `RolloutHalted`)",
  refused: "The API server, an admission policy or a webhook rejected the write (`RolloutRefused`)",
  conflict: "The workload kept changing while Wave planned it; Wave retries immediately",
  unavailable: "The API server did not respond; Wave retries",
  bug: "Wave failed; the log has the stack trace",
} as const;

/** Current states of a workload. */
const states = {
  current: "The Pods have the current configuration, or get it by the rollout in progress",
  due: "A write is due, and waits for a write permit or for the API server",
  waiting: "A required object or key is missing",
  overLimit: "The workload exceeds a limit",
  unproven: "The recorded configuration is current, but the Pods may run an earlier one (`ConfigUnproven`)",
  held: "A rollout is due and held",
  refused: "The last write was rejected",
  bug: "Wave failed to plan the workload",
  ignore: "The workload opted out, and Wave keeps its record until an earlier Event or message is out of date",
} as const;

/** Metrics of workloads, queues and Events. Only the leader has values other than 0. */
export const workloadMetrics = {
  outcomes: counter("wave_outcomes_total", {
    help: "Number of writes, failed writes, waits that began, and rollouts that ended.",
    labels: { kind, outcome: outcomes },
  }),
  duration: histogram("wave_change_to_patch_seconds", {
    help: "Time from the arrival of a change to the patch of the workload. It includes rollouts without a hold, and rollouts that were held only for settling, interval, progressing or batch.",
    labels: { kind },
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  }),
  workloads: gauge("wave_workloads", {
    help: "Number of workloads in each state. This metric and all following ones are 0 on a standby replica.",
    labels: { state: states },
  }),
  longest: gauge("wave_workloads_longest_seconds", {
    help: "Age of the oldest unresolved problem among the workloads that are now in this state, as seen by the current leader.",
    labels: { state: states },
  }),
  held: gauge("wave_held_workloads", {
    help: "Number of held workloads, by the reason of the hold.",
    labels: { reason: hold },
  }),
  longestHeld: gauge("wave_held_workloads_longest_seconds", {
    help: "Age of the oldest current hold, by its reason.",
    labels: { reason: hold },
  }),
  halted: gauge("wave_rollouts_halted", {
    help: "Number of changes of ConfigMaps and Secrets whose rollout is halted in a namespace, because workloads failed after the change.",
  }),
  failed: gauge("wave_rollouts_failed", {
    help: "Number of workloads whose rollout failed: their status reports it, or a container of a canary restarted three times.",
  }),
  stuck: gauge("wave_rollouts_stuck", {
    help: "Number of workloads whose rollout is stuck: a new Pod does not start for a reason outside of its configuration.",
  }),
  flapping: gauge("wave_workloads_flapping", {
    help: "Number of workloads with at least seven consecutive rollouts, because their configuration keeps changing.",
  }),
  onlyObserves: gauge("wave_only_observes", {
    help: "1 if Wave runs with --observe, so that it rolls nothing; otherwise 0.",
  }),
  depth: gauge("wave_queue_depth", { help: "Number of workloads that are ready for a worker." }),
  delayed: gauge("wave_queue_delayed", {
    help: "Number of workloads that wait until a set time: to settle, to retry, or to report a problem again.",
  }),
  permits: gauge("wave_write_permits_waiting", {
    help: "Number of workloads whose write is due and waits for a write permit.",
  }),
  events: gauge("wave_events_waiting", { help: "Number of Events that wait to be sent. The maximum is 4,096." }),
  droppedEvents: counter("wave_events_dropped_total", {
    help: "Number of Events that Wave did not send.",
    labels: {
      reason: {
        full: "Too many Events waited",
        newer: "A newer Event of the same object and reason had another message",
      },
    },
  }),
  failedEvents: counter("wave_events_failed_total", {
    help: "Number of Events that Wave could not write, or skipped because the namespace had just rejected others.",
  }),
  views: gauge("wave_view_entries", {
    help: "Number of configuration keys that Wave keeps in memory, so that Events can name the changed keys. The maximum is 65,536.",
  }),
  droppedViews: counter("wave_views_dropped_total", {
    help: "Number of times that the configuration of a workload was too large to keep in memory. The next rollout of the workload does not report which keys changed.",
  }),
};
