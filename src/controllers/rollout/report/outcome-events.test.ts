import { expect, it } from "vitest";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { defaultPolicy, lookupOf, workload } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { ObjectEvent } from "../../../kube/events/event-object.ts";
import { silentLogger } from "../../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../../telemetry/metrics/metrics.ts";
import type { ReconcileOutcome } from "../memory/outcome.ts";
import { newMemory, type WorkloadMemory } from "../memory/workload-memory.ts";
import { OutcomeReport } from "./outcome-report.ts";
import { rolloutMetrics } from "./rollout-metrics.ts";

type Waiting = ReturnType<typeof waitingFor>;

function start() {
  const posted: ObjectEvent[] = [];
  const clock = new FakeClock();
  const metrics = rolloutMetrics(
    new MetricsRegistry(),
    clock,
    () => [],
    () => undefined,
  );
  const report = new OutcomeReport({
    ...{ metrics, clock, log: silentLogger },
    ...{ post: (event) => posted.push(event), onReturn: () => {}, random: () => 0 },
  });
  let memory: WorkloadMemory = newMemory();
  const ended = (outcome: ReconcileOutcome, of = memory) =>
    report.ended(of, { changeSeenAt: undefined, requestedRuns: 0, changes: undefined }, outcome, undefined, {});
  const set = (fields: Partial<WorkloadMemory>) => {
    memory = { ...memory, ...fields };
  };
  return {
    posted,
    clock,
    set,
    blockers: () => memory.blockers,
    done: ([waiting, plan]: Waiting) => set({ blockers: ended({ type: "done", workload: waiting, plan }) }),
    written: ([before]: Waiting) => {
      const plan = { outcome: "firstHash", reason: "no hash is recorded yet", warnings: [] } as const;
      set({ blockers: ended({ type: "written", before, plan }) });
    },
    refused: ([waiting]: Waiting, of = memory) => ended({ type: "refused", workload: waiting, message: "no" }, of),
  };
}

/** Returns a workload that waits for Secrets, and its plan. */
function waitingFor(...names: readonly string[]) {
  const envFrom = names.map((name) => ({ secretRef: { name } }));
  const waiting = workload({ pod: { containers: [{ name: "web", envFrom }] } });
  return [waiting, planRollout(waiting, lookupOf(), defaultPolicy)] as const;
}

it("reports a blocker once, again when it changes, and again before its Event expires", async () => {
  const { done, posted, clock } = start();
  done(waitingFor("db"));
  done(waitingFor("db"));
  expect(posted.map(({ reason }) => reason)).toEqual(["ConfigMissing"]);
  done(waitingFor("db", "cache"));
  expect(posted).toHaveLength(2);
  await clock.advance(45 * 60_000);
  done(waitingFor("db", "cache"));
  expect(posted).toHaveLength(3);
});

it("marks Events that may not be new: repeated ones, and those that the previous leader may have written", async () => {
  const { done, written, refused, set, posted, clock } = start();
  const marks = () => posted.splice(0).map(({ repeats }) => repeats);
  const waiting = waitingFor("db");
  done(waiting);
  expect(marks()).toEqual(["perhaps"]);
  set({ state: "waiting" });
  await clock.advance(45 * 60_000);
  done(waiting);
  expect(marks()).toEqual(["reported"]);
  written(waiting);
  set({ state: "current" });
  done(waiting);
  expect(marks()).toEqual([undefined, undefined]);
  refused(waiting);
  set({ logged: "refused" });
  refused(waiting);
  expect(marks()).toEqual([undefined, "reported"]);
  refused(waiting, newMemory());
  expect(marks()).toEqual(["perhaps"]);
});

it("keeps little memory for a blocker, even if the names of the missing objects are long", () => {
  const { done, blockers, posted } = start();
  const names = Array.from({ length: 5 }, (_, index) => `${index}${"\u0001".repeat(200)}`);
  done(waitingFor(...names));
  expect(posted[0]?.message.length).toBeGreaterThan(2_000);
  expect(JSON.stringify(blockers()).length).toBeLessThan(1_000);
});

it("names what a workload waited for when the wait ends", () => {
  const { done, written, blockers, posted } = start();
  const waiting = waitingFor("db");
  done(waiting);
  written(waiting);
  expect(posted[1]?.message).toContain('no hash is recorded yet. Waited for Secret "db".');
  expect(blockers()).toBeUndefined();
});
