import { expect, it } from "vitest";
import { defaultPolicy, lookupOf, workload } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { planRollout } from "../../../domain/plan/plan.ts";
import { silentLogger } from "../../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../../telemetry/metrics/metrics.ts";
import { newRecord } from "../record/workload-record.ts";
import { EventReporter } from "./event-reporter.ts";
import { OutcomeReport } from "./outcome-report.ts";
import { rolloutMetrics } from "./rollout-metrics.ts";

/** One workload's report, and what is counted of it. */
function start() {
  const clock = new FakeClock();
  const registry = new MetricsRegistry();
  const metrics = rolloutMetrics(
    registry,
    clock,
    () => ["Deployment"],
    () => undefined,
  );
  const eventReporter = new EventReporter({ post: () => {}, clock, random: () => 0 });
  const report = new OutcomeReport({ eventReporter, metrics, clock, log: silentLogger });
  const counted = (outcome: string) =>
    Number(new RegExp(`wave_outcomes_total\\{.*outcome="${outcome}"\\} (\\d+)`).exec(registry.render())?.[1]);
  const durations = () =>
    ["count", "sum"].map((what) =>
      Number(new RegExp(`duration_seconds_${what}\\{kind="Deployment"\\} ([\\d.]+)`).exec(registry.render())?.[1]),
    );
  return { clock, report, durations, record: newRecord(), counted };
}

const reads = workload({ pod: { containers: [{ name: "web", envFrom: [{ secretRef: { name: "db" } }] }] } });
const waiting = { type: "settled", workload: reads, plan: planRollout(reads, lookupOf(), defaultPolicy) } as const;
const idle = workload({ pod: { containers: [{ name: "web" }] } });
const inOrder = { type: "settled", workload: idle, plan: planRollout(idle, lookupOf(), defaultPolicy) } as const;

it("since when a workload is out of order stays the same until it is in order, whatever it is meanwhile", async () => {
  const { clock, report, record } = start();
  await clock.advance(1_000);
  report.ended(record, waiting, undefined);
  await clock.advance(1_000);
  report.ended(record, { type: "paced" }, undefined);
  report.ended(record, { type: "refused", workload: reads, message: "no" }, undefined);
  expect([record.state, record.unhealthySince]).toEqual(["refused", 1_000]);
  report.ended(record, inOrder, undefined);
  expect([record.state, record.unhealthySince]).toEqual(["current", undefined]);
});

it("the time to a write begins when its change is seen, and is not told of one that people held meanwhile", async () => {
  const { clock, report, record, durations } = start();
  const written = { type: "written", before: reads, plan: { outcome: "roll", reason: "", warnings: [] } } as const;
  const held = (reason: "batch" | "window") => {
    record.hold = { reason, since: 0, changed: undefined, until: undefined, closesAt: undefined, tellAt: 0 };
    report.ended(record, waiting, undefined);
  };
  report.ended(record, { type: "paced" }, clock.monotonic());
  await clock.advance(7_000);
  held("batch");
  await clock.advance(4_000);
  report.ended(record, written, undefined);
  expect(durations()).toEqual([1, 11]);
  report.ended(record, { type: "paced" }, clock.monotonic());
  held("window");
  await clock.advance(60_000);
  report.ended(record, written, undefined);
  expect(durations()).toEqual([1, 11]);
});

it("what lasts is counted when it begins, and each refusal as one", () => {
  const { report, record, counted } = start();
  for (let time = 0; time < 3; time++) report.ended(record, waiting, undefined);
  report.ended(record, inOrder, undefined);
  report.ended(record, waiting, undefined);
  for (let time = 0; time < 3; time++)
    report.ended(record, { type: "refused", workload: reads, message: "no" }, undefined);
  report.failed("Deployment/default/web", record, new Error("a bug"));
  expect(["waiting", "refused", "bug"].map(counted)).toEqual([2, 3, 1]);
});
