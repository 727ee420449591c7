import { expect, it } from "vitest";
import { parseExposition } from "../../../../test/support/parse-exposition.ts";
import { MetricsRegistry } from "../../../telemetry/metrics/metrics.ts";
import { type RolloutGauges, rolloutMetrics } from "./rollout-metrics.ts";

const idle = {
  depth: 0,
  delayed: 0,
  permits: 0,
  events: 0,
  views: 0,
  halted: 0,
  failed: 0,
  stuck: 0,
  flapping: 0,
};

/** What is shown of these workloads 100 s after the clock's beginning, without what is 0. */
function shown(workloads: RolloutGauges["workloads"]): readonly string[] {
  const registry = new MetricsRegistry();
  rolloutMetrics(
    registry,
    { monotonic: () => 100_000 },
    () => [],
    () => ({ ...idle, workloads }),
  );
  return registry
    .render()
    .split("\n")
    .filter((line) => /^wave_.*(workloads).* [^0]/.test(line));
}

it("shows the number of workloads in each state, and the age of the oldest problem", () => {
  const workloads = [
    { state: "current", unhealthySince: undefined, hold: undefined },
    { state: "waiting", unhealthySince: 90_000, hold: undefined },
    { state: "waiting", unhealthySince: 40_000, hold: undefined },
    { state: "held", unhealthySince: 10_000, hold: { reason: "window", since: 70_000 } },
    { state: "held", unhealthySince: 80_000, hold: { reason: "batch", since: 80_000 } },
    // An earlier hold of a workload that has been written since.
    { state: "due", unhealthySince: 0, hold: { reason: "batch", since: 0 } },
    { state: undefined, unhealthySince: undefined, hold: undefined },
  ] as const;
  expect(shown(workloads)).toEqual([
    'wave_held_workloads{reason="window"} 1',
    'wave_held_workloads{reason="batch"} 1',
    'wave_held_workloads_longest_seconds{reason="window"} 30',
    'wave_held_workloads_longest_seconds{reason="batch"} 20',
    'wave_workloads{state="current"} 1',
    'wave_workloads{state="due"} 1',
    'wave_workloads{state="waiting"} 2',
    'wave_workloads{state="held"} 2',
    'wave_workloads_longest_seconds{state="due"} 100',
    'wave_workloads_longest_seconds{state="waiting"} 60',
    'wave_workloads_longest_seconds{state="held"} 90',
  ]);
});

it("counts writes, attempts and starts of waits, but no plan without an action", () => {
  const registry = new MetricsRegistry();
  const metrics = rolloutMetrics(
    registry,
    { monotonic: () => 0 },
    () => ["Deployment"],
    () => undefined,
  );
  for (const outcome of ["roll", "firstHash", "held", "refused", "current", "ignore"] as const)
    metrics.count({ kind: "Deployment" }, outcome);
  const { samples = [] } = parseExposition(registry.render()).get("wave_outcomes_total") ?? {};
  const counted = samples.filter(({ value }) => value > 0).map(({ labels }) => labels.outcome);
  expect(counted).toEqual(["roll", "firstHash", "held", "refused"]);
});

it("shows every kind from its discovery, before an object of the kind changes", () => {
  const registry = new MetricsRegistry();
  const kinds = ["Deployment"];
  rolloutMetrics(
    registry,
    { monotonic: () => 0 },
    () => kinds,
    () => undefined,
  );
  const shownKinds = () => {
    const { samples = [] } = parseExposition(registry.render()).get("wave_outcomes_total") ?? {};
    return [...new Set(samples.map(({ labels }) => labels.kind))];
  };
  expect(shownKinds()).toEqual(["Deployment"]);
  kinds.push("rollouts.argoproj.io");
  expect(shownKinds()).toEqual(["Deployment", "rollouts.argoproj.io"]);
});

it("counts the Events that were not sent, by the reason", () => {
  const registry = new MetricsRegistry();
  const metrics = rolloutMetrics(
    registry,
    { monotonic: () => 0 },
    () => [],
    () => idle as RolloutGauges,
  );
  for (const reason of ["full", "newer", "full"] as const) metrics.countDroppedEvent(reason);
  expect(registry.render()).toMatch(/^wave_\w+\{reason="full"\} 2$/m);
});
