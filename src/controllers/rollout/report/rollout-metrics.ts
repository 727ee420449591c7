import type { WorkloadKind } from "../../../domain/model/kind-row.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { HoldReason, RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { holdReasons } from "../../../domain/pacing/holds.ts";
import { isFlapping } from "../../../domain/pacing/interval.ts";
import { failedAlertOf } from "../../../domain/pacing/rollout-result.ts";
import type { NewPods } from "../../../domain/pods/new-pods.ts";
import type { Clock } from "../../../lib/clock.ts";
import { workloadMetrics } from "../../../telemetry/catalogue/workloads.ts";
import type { MetricsRegistry } from "../../../telemetry/metrics/metrics.ts";
import type { LabelsOf } from "../../../telemetry/metrics/series.ts";
import type { WorkloadState } from "../memory/outcome.ts";
import type { EventDropReason } from "./event-outbox.ts";

/** The outcome of a run in `wave_outcomes_total` and in the log. */
export type CountedOutcome = LabelsOf<typeof workloadMetrics.outcomes>["outcome"];

const outcomes = workloadMetrics.outcomes.labels.outcome;
const workloadStates = keysOf(workloadMetrics.workloads.labels.state);

/** The values of the gauges. */
export interface RolloutGauges {
  /** Keys that a worker could run now. */
  readonly depth: number;
  /** Keys that wait for their time. */
  readonly delayed: number;
  /** Workloads that wait for a write permit. */
  readonly waitingForPermit: number;
  readonly waitingEvents: number;
  /** The entries of the remembered views. */
  readonly viewEntries: number;
  /** Halted changes, each one per namespace. */
  readonly haltedChanges: number;
  /** Workloads whose status reports a failed rollout, or whose containers restart again and again. */
  readonly failedRollouts: number;
  /** Workloads with a Pod of their last rollout that does not start. */
  readonly stuckRollouts: number;
  /** Workloads whose configuration keeps changing. */
  readonly flapping: number;
  /** Every workload with a memory. */
  readonly workloads: Iterable<{
    readonly state: WorkloadState | undefined;
    /** Since when the workload is unhealthy, in monotonic milliseconds; undefined if it is healthy. */
    readonly unhealthySince: number | undefined;
    readonly hold: { readonly reason: HoldReason; readonly since: number } | undefined;
  }>;
}

/** Counts the rollouts that failed, those that are stuck, and those that never end because their configuration keeps changing. */
export function countRollouts(
  workloads: Iterable<Workload>,
  newPods: { readonly of: (workload: Workload) => NewPods | undefined },
  now: number,
): Pick<RolloutGauges, "failedRollouts" | "stuckRollouts" | "flapping"> {
  let [failedRollouts, stuckRollouts, flapping] = [0, 0, 0];
  const moment = { now, lastWrite: undefined };
  for (const workload of workloads) {
    if (isFlapping(workload, moment)) flapping++;
    const shown = newPods.of(workload)?.state;
    if (shown === "stuck") stuckRollouts++;
    else if (workload.progress.state === "failed" || shown === "restarts" || shown === "exited") failedRollouts++;
    else if (failedAlertOf(workload, moment) !== undefined) failedRollouts++;
  }
  return { failedRollouts, stuckRollouts, flapping };
}

/** The controller's metrics. */
export interface RolloutMetrics {
  /** Counts a run. A plan that needs nothing is not counted. */
  readonly count: (workload: Pick<Workload, "kind">, outcome: CountedOutcome | RolloutPlan["outcome"]) => void;
  /** Observes the write of a change that was seen `ms` milliseconds ago. */
  readonly observeDuration: (kind: WorkloadKind, ms: number) => void;
  /** Counts an Event that was not sent. */
  readonly countDroppedEvent: (because: EventDropReason) => void;
  /** Counts a view for which there was no room. */
  readonly countDroppedView: () => void;
}

/**
 * Declares the metrics of the controller. Each scrape reads `kinds`, because a kind may be found at any time, and `observe`,
 * which returns undefined while this process does not lead.
 */
export function rolloutMetrics(
  registry: MetricsRegistry,
  clock: Pick<Clock, "monotonic">,
  kinds: () => readonly WorkloadKind[],
  observe: () => RolloutGauges | undefined,
): RolloutMetrics {
  const counted = registry.counter(workloadMetrics.outcomes);
  const seconds = registry.histogram(workloadMetrics.duration);
  const halted = registry.gauge(workloadMetrics.halted);
  const failed = registry.gauge(workloadMetrics.failed);
  const flapping = registry.gauge(workloadMetrics.flapping);
  const stuck = registry.gauge(workloadMetrics.stuck);
  const depth = registry.gauge(workloadMetrics.depth);
  const delayed = registry.gauge(workloadMetrics.delayed);
  const permits = registry.gauge(workloadMetrics.permits);
  const events = registry.gauge(workloadMetrics.events);
  const dropped = registry.counter(workloadMetrics.droppedEvents);
  const views = registry.gauge(workloadMetrics.views);
  const droppedViews = registry.counter(workloadMetrics.droppedViews);
  const showWorkloads = workloadGauges(registry, clock);
  depth.collect(() => {
    const kind = kinds();
    registry.counter(workloadMetrics.outcomes, { kind });
    registry.histogram(workloadMetrics.duration, { kind });
    const observed = observe();
    depth.set(observed?.depth ?? 0);
    delayed.set(observed?.delayed ?? 0);
    permits.set(observed?.waitingForPermit ?? 0);
    events.set(observed?.waitingEvents ?? 0);
    views.set(observed?.viewEntries ?? 0);
    halted.set(observed?.haltedChanges ?? 0);
    failed.set(observed?.failedRollouts ?? 0);
    flapping.set(observed?.flapping ?? 0);
    stuck.set(observed?.stuckRollouts ?? 0);
    showWorkloads(observed?.workloads ?? []);
  });
  return {
    count: ({ kind }, outcome) => {
      if (isCounted(outcome)) counted.inc({ kind, outcome });
    },
    observeDuration: (kind, ms) => seconds.observe(ms / 1000, { kind }),
    countDroppedView: () => droppedViews.inc(),
    countDroppedEvent: (reason) => dropped.inc({ reason }),
  };
}

/** Returns a function that sets the gauges of workloads by state and hold. */
function workloadGauges(registry: MetricsRegistry, clock: Pick<Clock, "monotonic">) {
  const workloads = registry.gauge(workloadMetrics.workloads);
  const longest = registry.gauge(workloadMetrics.longest);
  const held = registry.gauge(workloadMetrics.held, { reason: holdReasons });
  const longestHeld = registry.gauge(workloadMetrics.longestHeld, { reason: holdReasons });
  return (all: RolloutGauges["workloads"]) => {
    const now = clock.monotonic();
    const byState = new Tally<WorkloadState>(now);
    const byHold = new Tally<HoldReason>(now);
    for (const { state, unhealthySince, hold } of all) {
      if (state !== undefined) byState.add(state, unhealthySince ?? now);
      if (state === "held" && hold !== undefined) byHold.add(hold.reason, hold.since);
    }
    for (const state of workloadStates) {
      workloads.set(byState.count(state), { state });
      longest.set(byState.longestMs(state) / 1000, { state });
    }
    for (const reason of holdReasons) {
      held.set(byHold.count(reason), { reason });
      longestHeld.set(byHold.longestMs(reason) / 1000, { reason });
    }
  };
}

/** The number of workloads by key, and the earliest time of each key. */
class Tally<Key> {
  readonly #now: number;
  readonly #counts = new Map<Key, { count: number; since: number }>();

  constructor(now: number) {
    this.#now = now;
  }

  add(key: Key, since: number): void {
    const before = this.#counts.get(key) ?? { count: 0, since };
    this.#counts.set(key, { count: before.count + 1, since: Math.min(before.since, since) });
  }

  count(key: Key): number {
    return this.#counts.get(key)?.count ?? 0;
  }

  longestMs(key: Key): number {
    return Math.max(0, this.#now - (this.#counts.get(key)?.since ?? this.#now));
  }
}

function isCounted(outcome: string): outcome is CountedOutcome {
  return Object.hasOwn(outcomes, outcome);
}

function keysOf<T extends object>(row: T): readonly (keyof T & string)[] {
  return Object.keys(row) as (keyof T & string)[];
}
