import { expect, it } from "vitest";
import { parseExposition } from "../../../../test/support/parse-exposition.ts";
import { MetricsRegistry } from "../../../telemetry/metrics/metrics.ts";
import { type Observed, rolloutMetrics } from "./rollout-metrics.ts";

const idle = { depth: 0, delayed: 0, waitingForTurn: 0, waitingEvents: 0, viewEntries: 0, haltedChanges: 0 };

/** What is shown of these workloads 100 s after the clock's beginning, without what is 0. */
function shown(workloads: Observed["workloads"]): readonly string[] {
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

it("shows how many workloads are what, and for how long the first of them has been out of order", () => {
  const workloads = [
    { state: "unchanged", outOfOrderSince: undefined, hold: undefined },
    { state: "waiting", outOfOrderSince: 90_000, hold: undefined },
    { state: "waiting", outOfOrderSince: 40_000, hold: undefined },
    { state: "held", outOfOrderSince: 10_000, hold: { reason: "window", since: 70_000 } },
    { state: "held", outOfOrderSince: 80_000, hold: { reason: "wave", since: 80_000 } },
    // A hold that was, of one that is written by now.
    { state: "pending", outOfOrderSince: 0, hold: { reason: "wave", since: 0 } },
    { state: undefined, outOfOrderSince: undefined, hold: undefined },
  ] as const;
  expect(shown(workloads)).toEqual([
    'wave_held_workloads{reason="window"} 1',
    'wave_held_workloads{reason="wave"} 1',
    'wave_held_workloads_longest_seconds{reason="window"} 30',
    'wave_held_workloads_longest_seconds{reason="wave"} 20',
    'wave_workloads{state="unchanged"} 1',
    'wave_workloads{state="pending"} 1',
    'wave_workloads{state="waiting"} 2',
    'wave_workloads{state="held"} 2',
    'wave_workloads_longest_seconds{state="pending"} 100',
    'wave_workloads_longest_seconds{state="waiting"} 60',
    'wave_workloads_longest_seconds{state="held"} 90',
  ]);
});

it("counts what is written, tried or begins to wait, and no plan that asks for nothing", () => {
  const registry = new MetricsRegistry();
  const metrics = rolloutMetrics(
    registry,
    { monotonic: () => 0 },
    () => ["Deployment"],
    () => undefined,
  );
  for (const outcome of ["roll", "baseline", "held", "refused", "unchanged", "ignore"] as const)
    metrics.count({ kind: "Deployment" }, outcome);
  const { samples = [] } = parseExposition(registry.render()).get("wave_outcomes_total") ?? {};
  const counted = samples.filter(({ value }) => value > 0).map(({ labels }) => labels.outcome);
  expect(counted).toEqual(["roll", "baseline", "held", "refused"]);
});

it("shows every kind from when it is found on, before anything happened to one of it", () => {
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
