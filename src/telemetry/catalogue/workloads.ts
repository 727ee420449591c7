import { counter, gauge, histogram } from "../metrics/metric-row.ts";

/** What a workload's kind may be. */
const kind = "each kind of workload that is watched";

/** What came of planning a workload. The same words are the `outcome` of the log's lines. */
const outcomes = {
  roll: "the hash of a changed configuration was written, so that Kubernetes replaces the Pods (Event `ConfigChanged`)",
  firstHash:
    "a first hash was written, or a new workload's scheduling hold was opened with it (`ConfigHashAdded`, `SchedulingEnabled`)",
  recorded: "the configuration was noted as what the Pods see, and none was replaced (`ConfigRecorded`)",
  cleanUp:
    "a scheduling hold was opened or a paused Deployment resumed, and nothing rolled (`SchedulingEnabled`, `Resumed`)",
  waiting: "it began to wait for something missing (`ConfigMissing`, `SchedulingDisabled`)",
  overLimit: "it began to ask for more than one object may cost (`OverLimit`)",
  held: "something due began to be held (`RolloutHeld`, `RolloutHalted`)",
  refused: "the API server, or something that it asks, did not let Wave write it (`RolloutFailed`)",
  conflict: "it kept changing while it was planned; it is tried again at once",
  unavailable: "the API server could not answer; it is tried again",
  bug: "Wave failed; its log has the stack",
} as const;

/** What a workload is at the moment. */
const states = {
  current: "its Pods have the current configuration, or get it by the rollout that is under way",
  pending: "it has something to write, and waits for its turn or for the API server",
  waiting: "something that it requires is missing",
  overLimit: "it asks for more than one object may cost",
  held: "something is due and held",
  refused: "the last write was refused",
  bug: "Wave failed at it",
  ignore: "it has opted out, and is remembered because somebody was told of it",
} as const;

/** What holds what is due. */
const holds = {
  observed: "it is only told, by `mode: observe` or `--observe`",
  invalid: "an annotation that says when to roll cannot be read",
  hold: "somebody holds it",
  approval: "it waits for an approval",
  window: "it is outside of its window",
  settling: "what it reads has just changed",
  reverted: "something takes away what Wave writes",
  interval: "its last roll is too short a time ago",
  progressing: "its last roll is under way",
  batch: "other workloads go first",
  halted: "too many workloads failed with the same change",
} as const;

/** What the leader tells of workloads, its queues and Events. */
export const workloadMetrics = {
  outcomes: counter("wave_outcomes_total", {
    help: "What came of planning workloads, where that is a write, a try of one, or the beginning of a wait",
    labels: { kind, outcome: outcomes },
  }),
  duration: histogram("wave_rollout_duration_seconds", {
    help: "From a change being seen to the workload being patched, where nothing held it but what ends by itself: settling, interval, progressing, wave",
    labels: { kind },
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  }),
  workloads: gauge("wave_workloads", {
    help: "Workloads that concern Wave, by what they are; 0 on a replica that does not lead, as in all that follow",
    labels: { state: states },
  }),
  longest: gauge("wave_workloads_longest_seconds", {
    help: "How long the one has been out of order, as far as this term knows, that has been for longest, by what it is now",
    labels: { state: states },
  }),
  held: gauge("wave_held_workloads", {
    help: "Workloads that are held, by what holds them",
    labels: { reason: holds },
  }),
  longestHeld: gauge("wave_held_workloads_longest_seconds", {
    help: "How long the one has been held that has been for longest, by what holds it",
    labels: { reason: holds },
  }),
  halted: gauge("wave_rollouts_halted", {
    help: "Changes of ConfigMaps and Secrets that are rolled no further in a namespace because workloads failed with them",
  }),
  depth: gauge("wave_queue_depth", { help: "Workloads that a worker could take now" }),
  delayed: gauge("wave_queue_delayed", {
    help: "Workloads that wait for their time: for configuration to settle, for another try, or to be told of again",
  }),
  permits: gauge("wave_write_permits_waiting", {
    help: "Workloads that have something to write and wait for their turn",
  }),
  events: gauge("wave_events_waiting", { help: "Events that wait to be sent; 4,096 at most" }),
  droppedEvents: counter("wave_events_dropped_total", {
    help: "Events that were not sent",
    labels: {
      reason: { full: "too many waited", newer: "a newer one of the same object and reason said something else" },
    },
  }),
  failedEvents: counter("wave_events_failed_total", {
    help: "Events that could not be written, or were not tried because their namespace had just refused others",
  }),
  views: gauge("wave_view_entries", { help: "Keys remembered to tell what changed; 65,536 at most" }),
  droppedViews: counter("wave_views_dropped_total", {
    help: "Times that what a workload sees was too much to be remembered: its next rollout does not say what changed",
  }),
};
