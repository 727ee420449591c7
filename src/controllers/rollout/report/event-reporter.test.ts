import { expect, it } from "vitest";
import { defaultPolicy, lookupOf, workload } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { planRollout } from "../../../domain/plan/plan.ts";
import type { ObjectEvent } from "../../../kube/events/event-object.ts";
import { newRecord } from "../record/workload-record.ts";
import { EventReporter } from "./event-reporter.ts";

function start() {
  const posted: ObjectEvent[] = [];
  const clock = new FakeClock();
  const eventReporter = new EventReporter({ post: (event) => posted.push(event), clock, random: () => 0 });
  return { eventReporter, posted, clock, record: newRecord() };
}

/** A workload that waits for Secrets, and its plan. */
function waitingFor(...names: readonly string[]) {
  const envFrom = names.map((name) => ({ secretRef: { name } }));
  const waiting = workload({ pod: { containers: [{ name: "web", envFrom }] } });
  return [waiting, planRollout(waiting, lookupOf(), defaultPolicy)] as const;
}

it("what stands against a workload is told once, when it becomes something else, and before its Event expires", async () => {
  const { eventReporter, posted, clock, record } = start();
  eventReporter.settled(record, ...waitingFor("db"));
  eventReporter.settled(record, ...waitingFor("db"));
  expect(posted.map(({ reason }) => reason)).toEqual(["ConfigMissing"]);
  eventReporter.settled(record, ...waitingFor("db", "cache"));
  expect(posted).toHaveLength(2);
  await clock.advance(45 * 60_000);
  eventReporter.settled(record, ...waitingFor("db", "cache"));
  expect(posted).toHaveLength(3);
});

it("what may be no news is marked: what this term told before, and what the term before may have told", async () => {
  const { eventReporter, posted, clock, record } = start();
  const marks = () => posted.splice(0).map(({ repeats }) => repeats);
  const [waiting, plan] = waitingFor("db");
  eventReporter.settled(record, waiting, plan);
  expect(marks()).toEqual(["perhaps"]);
  record.state = "waiting";
  await clock.advance(45 * 60_000);
  eventReporter.settled(record, waiting, plan);
  expect(marks()).toEqual(["told"]);
  eventReporter.written(record, waiting, { outcome: "firstHash", reason: "no hash is recorded yet", warnings: [] });
  record.state = "current";
  eventReporter.settled(record, waiting, plan);
  expect(marks()).toEqual([undefined, undefined]);
  eventReporter.refused(record, waiting, "no");
  record.logged = "refused";
  eventReporter.refused(record, waiting, "no");
  expect(marks()).toEqual([undefined, "told"]);
  eventReporter.refused(newRecord(), waiting, "no");
  expect(marks()).toEqual(["perhaps"]);
});

it("of what stands against a workload little is kept, however its owner calls what is missing", () => {
  const { eventReporter, posted, record } = start();
  const names = Array.from({ length: 5 }, (_, index) => `${index}${"\u0001".repeat(200)}`);
  eventReporter.settled(record, ...waitingFor(...names));
  expect(posted[0]?.message.length).toBeGreaterThan(2_000);
  expect(JSON.stringify(record.standing).length).toBeLessThan(1_000);
});

it("a write tells what was waited for", () => {
  const { eventReporter, posted, record } = start();
  const [before, plan] = waitingFor("db");
  eventReporter.settled(record, before, plan);
  eventReporter.written(record, before, { outcome: "firstHash", reason: "no hash is recorded yet", warnings: [] });
  expect(posted[1]?.message).toContain('waited for Secret "db"; no hash is recorded yet');
  expect(record.standing).toBeUndefined();
});
