import type { HoldReason } from "../rollout/pacing/hold.ts";
import type { RolloutPlan } from "../rollout/plan.ts";
import type { Workload, WorkloadKind } from "../rollout/workload.ts";
import type { MetricsRegistry } from "../telemetry/metrics.ts";
import type { DroppedBecause } from "./event-outbox.ts";

/** What came of planning a workload, as `wave_rollouts_total` counts it. */
export type CountedOutcome = "written" | "waiting" | "conflict" | "failed" | "unavailable";

const workloadStates = ["unchanged", "waiting", "pending", "failed", "ignored", "overBudget", "held"] as const;
/** What a workload is, as `wave_workloads` counts it; "pending" has something to write that was not written yet. */
export type WorkloadState = (typeof workloadStates)[number];

const holdReasons: Readonly<Record<HoldReason, true>> = {
  invalid: true,
  observed: true,
  hold: true,
  approval: true,
  window: true,
  settling: true,
  interval: true,
  undone: true,
  progressing: true,
  wave: true,
  halted: true,
};

/** What a workload is whose plan asks for no write. */
export function settledState(outcome: RolloutPlan["outcome"]): WorkloadState {
  switch (outcome) {
    case "ignore":
      return "ignored";
    case "waiting":
      return "waiting";
    case "overBudget":
      return "overBudget";
    case "held":
      return "held";
    default:
      return "unchanged";
  }
}

/** What the gauges show. */
export interface Observed {
  /** Keys that a worker could take now. */
  readonly depth: number;
  /** Keys that wait for their time. */
  readonly delayed: number;
  /** Workloads that have something to write and wait for their turn. */
  readonly waitingForTurn: number;
  readonly waitingEvents: number;
  /** Entries of views that are remembered. */
  readonly viewEntries: number;
  /** Changes of objects that are rolled no further because workloads failed, each counted for each namespace. */
  readonly haltedChanges: number;
  /** What each workload is that was planned. */
  readonly workloads: Iterable<{
    readonly state: WorkloadState | undefined;
    readonly hold: { readonly reason: HoldReason } | undefined;
  }>;
}

/** The controller's metrics. */
export interface RolloutMetrics {
  /** One run of the reconciler ended. */
  readonly count: (workload: Pick<Workload, "kind">, outcome: CountedOutcome) => void;
  /** A change that was seen `ms` milliseconds ago was written. */
  readonly observeDuration: (kind: WorkloadKind, ms: number) => void;
  /** An Event was not sent. */
  readonly countDroppedEvent: (because: DroppedBecause) => void;
  /** There was no room to remember what a workload sees. */
  readonly countDroppedView: () => void;
}

const secondsBuckets = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Declares the controller's metrics. `observe` is asked at each scrape; undefined while this process does not lead. */
export function rolloutMetrics(registry: MetricsRegistry, observe: () => Observed | undefined): RolloutMetrics {
  const rollouts = registry.counter(
    "wave_rollouts_total",
    "Outcomes of planning workloads that have something to write or that wait for something missing.",
    ["kind", "outcome"],
  );
  const seconds = registry.histogram(
    "wave_rollout_duration_seconds",
    "From a change being seen to the workload being patched, what settles included; not of what anything else held.",
    secondsBuckets,
    ["kind"],
  );
  const workloads = registry.gauge(
    "wave_workloads",
    "Workloads that concern Wave, by what they are, and those that are held by what holds them.",
    ["state", "reason"],
  );
  const halted = registry.gauge(
    "wave_rollouts_halted",
    "Changes of ConfigMaps and Secrets that are rolled no further in a namespace because workloads failed with them: alert on this.",
  );
  const depth = registry.gauge("wave_queue_depth", "Workloads that a worker could take now.");
  const delayed = registry.gauge(
    "wave_queue_delayed",
    "Workloads that wait for their time: for configuration to settle, for another try, or to be told of again.",
  );
  const turns = registry.gauge("wave_queue_turns", "Workloads that have something to write and wait for their turn.");
  const events = registry.gauge("wave_events_waiting", "Events that wait to be sent; 4,096 at most.");
  const dropped = registry.counter(
    "wave_events_dropped_total",
    "Events that were not sent: too many waited (full), or a newer one of the same object and reason said something else (newer).",
    ["reason"],
  );
  const views = registry.gauge("wave_view_entries", "Keys remembered to tell what changed; 65,536 at most.");
  const droppedViews = registry.counter(
    "wave_views_dropped_total",
    "Times that what a workload sees was too much to be remembered: its next rollout does not say what changed.",
  );
  workloads.collect(() => {
    const observed = observe();
    depth.set(observed?.depth ?? 0);
    delayed.set(observed?.delayed ?? 0);
    turns.set(observed?.waitingForTurn ?? 0);
    events.set(observed?.waitingEvents ?? 0);
    views.set(observed?.viewEntries ?? 0);
    halted.set(observed?.haltedChanges ?? 0);
    const counts = new Map<string, number>();
    for (const { state, hold } of observed?.workloads ?? []) {
      const what = state === "held" ? `held ${hold?.reason}` : `${state}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
    for (const state of workloadStates) {
      if (state !== "held") workloads.set(counts.get(state) ?? 0, { state, reason: "" });
    }
    for (const reason of Object.keys(holdReasons)) {
      workloads.set(counts.get(`held ${reason}`) ?? 0, { state: "held", reason });
    }
  });
  return {
    count: ({ kind }, outcome) => rollouts.inc({ kind, outcome }),
    observeDuration: (kind, ms) => seconds.observe(ms / 1000, { kind }),
    countDroppedView: () => droppedViews.inc(),
    countDroppedEvent: (reason) => dropped.inc({ reason }),
  };
}
