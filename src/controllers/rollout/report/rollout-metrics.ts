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

/** The gauges with one value. */
const gaugeNames = [
  "depth",
  "delayed",
  "permits",
  "events",
  "views",
  "halted",
  "failed",
  "stuck",
  "flapping",
] as const satisfies readonly (keyof typeof workloadMetrics)[];

/** The values of the gauges, by their names in {@link workloadMetrics}. */
export interface RolloutGauges extends Readonly<Record<(typeof gaugeNames)[number], number>> {
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
): Pick<RolloutGauges, "failed" | "stuck" | "flapping"> {
  let [failed, stuck, flapping] = [0, 0, 0];
  const moment = { now, lastWrite: undefined };
  for (const workload of workloads) {
    if (isFlapping(workload, moment)) flapping++;
    const shown = newPods.of(workload)?.state;
    if (shown === "stuck") stuck++;
    else if (workload.progress.state === "failed" || shown === "restarts" || shown === "exited") failed++;
    else if (failedAlertOf(workload, moment) !== undefined) failed++;
  }
  return { failed, stuck, flapping };
}

/** The controller's metrics. */
export type RolloutMetrics = ReturnType<typeof rolloutMetrics>;

/**
 * Declares the metrics of the controller. Each scrape reads `kinds`, because a kind may be found at any time, and `observe`,
 * which returns undefined while this process does not lead.
 */
export function rolloutMetrics(
  registry: MetricsRegistry,
  clock: Pick<Clock, "monotonic">,
  kinds: () => readonly WorkloadKind[],
  observe: () => RolloutGauges | undefined,
) {
  const counted = registry.counter(workloadMetrics.outcomes);
  const seconds = registry.histogram(workloadMetrics.duration);
  const dropped = registry.counter(workloadMetrics.droppedEvents);
  const droppedViews = registry.counter(workloadMetrics.droppedViews);
  const gauges = gaugeNames.map((name) => [name, registry.gauge(workloadMetrics[name])] as const);
  const showWorkloads = workloadGauges(registry, clock);
  registry.gauge(workloadMetrics.depth).collect(() => {
    const kind = kinds();
    registry.counter(workloadMetrics.outcomes, { kind });
    registry.histogram(workloadMetrics.duration, { kind });
    const observed = observe();
    for (const [name, gauge] of gauges) gauge.set(observed?.[name] ?? 0);
    showWorkloads(observed?.workloads ?? []);
  });
  return {
    /** Counts a run. A plan that needs nothing is not counted. */
    count: ({ kind }: Pick<Workload, "kind">, outcome: CountedOutcome | RolloutPlan["outcome"]) => {
      if (isCounted(outcome)) counted.inc({ kind, outcome });
    },
    /** Observes the write of a change that was seen `ms` milliseconds ago. */
    observeDuration: (kind: WorkloadKind, ms: number) => seconds.observe(ms / 1000, { kind }),
    /** Counts a view for which there was no room. */
    countDroppedView: () => droppedViews.inc(),
    countDroppedEvent: (reason: EventDropReason) => dropped.inc({ reason }),
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
    const secondsSince = (times: readonly (number | undefined)[]) =>
      (now - times.reduce<number>((first, time) => Math.min(first, time ?? now), now)) / 1000;
    const byState = Map.groupBy(all, ({ state }) => state);
    const byHold = Map.groupBy(byState.get("held") ?? [], ({ hold }) => hold?.reason);
    for (const state of workloadStates) {
      const found = byState.get(state) ?? [];
      workloads.set(found.length, { state });
      longest.set(secondsSince(found.map(({ unhealthySince }) => unhealthySince)), { state });
    }
    for (const reason of holdReasons) {
      const found = byHold.get(reason) ?? [];
      held.set(found.length, { reason });
      longestHeld.set(secondsSince(found.map(({ hold }) => hold?.since)), { reason });
    }
  };
}

function isCounted(outcome: string): outcome is CountedOutcome {
  return Object.hasOwn(outcomes, outcome);
}

function keysOf<T extends object>(row: T): readonly (keyof T & string)[] {
  return Object.keys(row) as (keyof T & string)[];
}
