import { expect, it } from "vitest";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { defaultPolicy, lookupOf, workload } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { silentLogger } from "../../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../../telemetry/metrics/metrics.ts";
import { finish, startRun } from "../memory/finish.ts";
import type { ReconcileOutcome } from "../memory/outcome.ts";
import type { RememberedHold } from "../memory/pacing-memory.ts";
import { newMemory } from "../memory/workload-memory.ts";
import { OutcomeReport } from "./outcome-report.ts";
import { rolloutMetrics } from "./rollout-metrics.ts";

/** Starts the report of one workload, with its counters. */
function start() {
  const clock = new FakeClock();
  const registry = new MetricsRegistry();
  const metrics = rolloutMetrics(
    registry,
    clock,
    () => ["Deployment"],
    () => undefined,
  );
  const report = new OutcomeReport({
    ...{ metrics, clock, log: silentLogger },
    ...{ post: () => {}, onReturn: () => {}, random: () => 0 },
  });
  const counted = (outcome: string) =>
    Number(new RegExp(`wave_outcomes_total\\{.*outcome="${outcome}"\\} (\\d+)`).exec(registry.render())?.[1]);
  const durations = () =>
    ["count", "sum"].map((what) =>
      Number(new RegExp(`patch_seconds_${what}\\{kind="Deployment"\\} ([\\d.]+)`).exec(registry.render())?.[1]),
    );
  const memory = newMemory();
  /** One run: report it, and finish the memory. */
  const ended = (outcome: ReconcileOutcome, changeSeenAt?: number, hold?: RememberedHold) => {
    const run = { ...startRun(memory), changeSeenAt };
    const blockers = report.ended(memory, run, outcome, hold, {});
    finish(memory, { start: run, outcome, findings: memory.findings, hold, blockers, now: clock.monotonic() });
  };
  return { clock, report, durations, memory, counted, ended };
}

const reads = workload({ pod: { containers: [{ name: "web", envFrom: [{ secretRef: { name: "db" } }] }] } });
const waiting = { type: "done", workload: reads, plan: planRollout(reads, lookupOf(), defaultPolicy) } as const;
const idle = workload({ pod: { containers: [{ name: "web" }] } });
const inOrder = { type: "done", workload: idle, plan: planRollout(idle, lookupOf(), defaultPolicy) } as const;
const refused = { type: "refused", workload: reads, message: "no" } as const;

it("measures the unhealthy time from its start to the healthy state, across all states between", async () => {
  const { clock, memory, ended } = start();
  await clock.advance(1_000);
  ended(waiting);
  await clock.advance(1_000);
  ended({ type: "permitPending" });
  ended(refused);
  expect([memory.state, memory.unhealthySince]).toEqual(["refused", 1_000]);
  ended(inOrder);
  expect([memory.state, memory.unhealthySince]).toEqual(["current", undefined]);
});

it("measures the time from a change to its write, unless people held it meanwhile", async () => {
  const { clock, durations, ended } = start();
  const written = { type: "written", before: reads, plan: { outcome: "roll", reason: "", warnings: [] } } as const;
  const held = (reason: "batch" | "window") => {
    ended(waiting, undefined, {
      reason,
      since: 0,
      changed: undefined,
      isByTimes: false,
      untilMonotonic: undefined,
      closesAtMonotonic: undefined,
      reportAt: 0,
    });
  };
  ended({ type: "permitPending" }, clock.monotonic());
  await clock.advance(7_000);
  held("batch");
  await clock.advance(4_000);
  ended(written);
  expect(durations()).toEqual([1, 11]);
  ended({ type: "permitPending" }, clock.monotonic());
  held("window");
  await clock.advance(60_000);
  ended(written);
  expect(durations()).toEqual([1, 11]);
});

it("counts a lasting state when it begins, and each refusal", () => {
  const { report, memory, counted, ended } = start();
  for (let time = 0; time < 3; time++) ended(waiting);
  ended(inOrder);
  ended(waiting);
  for (let time = 0; time < 3; time++) ended(refused);
  report.failed("Deployment/default/web", memory, new Error("a bug"));
  expect(["waiting", "refused", "bug"].map(counted)).toEqual([2, 3, 1]);
});
