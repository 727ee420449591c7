import { expect, it } from "vitest";
import { configMap, defaultPolicy, readsAll, unpaced, workload } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { processorMs } from "../../../../test/support/processor-time.ts";
import { type Workload, workloadKey } from "../../../domain/model/workload-shape.ts";
import type { Hold } from "../../../domain/outcomes/outcomes.ts";
import { writeFailedAlert } from "../../../domain/pacing/rollout-result.ts";
import { configKey } from "../../../domain/references/references.ts";
import { newMemory, type WorkloadMemory } from "../memory/workload-memory.ts";
import type { HaltedChange } from "../report/report-halt.ts";
import { BatchQueue } from "./batch-queue.ts";

const page = { kind: "ConfigMap", namespace: "default", name: "page" } as const;
const flags = { ...unpaced, maxConcurrent: 5, haltAfterFailures: 3 };
const planned = { ...newMemory(), requestedRuns: 1, finishedRuns: 1 };
const unplanned = { ...planned, requestedRuns: 2 };

/** Complete readers of one object that just changed, and a queue that knows them. */
function readers(...names: readonly string[]) {
  const clock = new FakeClock();
  const changedAt = Math.floor(clock.wall() / 1_000);
  const workloads = new Map<string, Workload>();
  const memories = new Map<string, WorkloadMemory>();
  const keyOf = (name: string) => workloadKey({ ...workload(), name });
  for (const name of names) {
    const progress = { state: "complete", since: changedAt - 60 } as const;
    const reader = workload({ pod: readsAll("ConfigMap", "page"), metadata: { name } });
    workloads.set(keyOf(name), { ...reader, progress, rolledAt: changedAt - 60 });
    memories.set(keyOf(name), planned);
  }
  const lookup = () => ({ ...configMap("page", { a: "1" }), changedAt });
  const enqueued: string[] = [];
  const halts: HaltedChange[] = [];
  const unvalidated: string[] = [];
  const queue = new BatchQueue({
    ...{
      clock,
      flags,
      policy: { ...defaultPolicy, pacing: flags },
      newPods: () => undefined,
      onCanary: () => undefined,
    },
    caches: { lookup, workload: (key) => workloads.get(key), workloadsReading: () => workloads.keys() },
    memory: (key) => memories.get(key),
    onChange: (key) => enqueued.push(key.split("/").at(-1) ?? ""),
    onHalted: (change) => halts.push(change),
    onUnvalidated: ({ validator }) => unvalidated.push(validator.why),
  });
  /** Plays a run that finds a workload due for the change, or held by a person. Returns the hold. */
  const run = (name: string, other?: Hold) => {
    const of = workloads.get(keyOf(name)) ?? workload();
    const batch = queue.startRun(keyOf(name));
    const hold = other ?? batch.holdOf([page], lookup);
    if (hold === undefined) return undefined;
    const due = { outcome: "roll", hash: "v2:new", view: new Map(), changed: [page] } as never;
    batch.ended({ type: "done", workload: of, plan: { outcome: "held", due, hold, reason: "", warnings: [] } });
    return hold.reason;
  };
  const set = (name: string, change: Partial<Workload>) =>
    workloads.set(keyOf(name), { ...(workloads.get(keyOf(name)) ?? workload()), ...change });
  const plan = (name: string, memory: WorkloadMemory) => memories.set(keyOf(name), memory);
  return { clock, changedAt, enqueued, halts, unvalidated, queue, run, set, plan, workloads };
}

it("a change admits a workload when every reader was planned, or 10 s later", async () => {
  const { clock, enqueued, run, plan } = readers("a", "b");
  plan("b", unplanned);
  expect(run("a")).toBe("batch");
  await clock.advance(5_000);
  expect(enqueued).toEqual([]);
  plan("b", planned);
  run("a");
  await clock.advance(100);
  expect([enqueued, run("a")]).toEqual([["a"], undefined]);

  const late = readers("a", "b");
  late.plan("b", unplanned);
  late.run("a");
  await late.clock.advance(10_000);
  expect(late.enqueued).toEqual([]);
  await late.clock.advance(100);
  expect(late.enqueued).toEqual(["a"]);
});

it("the end of a halt is reported if no workload waits any more, when every reader was planned", async () => {
  const { clock, changedAt, halts, queue, run, set, plan } = readers("a", "b", "c");
  set("c", { progress: { state: "failed" }, rolledAt: changedAt + 1 });
  run("a");
  run("b");
  await clock.advance(1_000);
  expect([run("a"), run("b"), queue.halted, halts.map(({ failed }) => failed?.length)]).toEqual([
    ...["halted", "halted"],
    ...[1, [1]],
  ]);
  set("c", { progress: { state: "complete", since: changedAt + 1 } });
  plan("c", unplanned);
  const byPerson = { reason: "hold", message: "", until: undefined, warning: false } as const;
  for (const name of ["a", "b"]) run(name, byPerson);
  await clock.advance(1_000);
  expect(halts).toHaveLength(1);
  plan("c", planned);
  await clock.advance(20_000);
  expect([halts.map(({ failed }) => failed?.length), queue.halted]).toEqual([[1, undefined], 0]);
});

it("a halt also stops a workload that was admitted before it and has not been written", async () => {
  const { clock, changedAt, enqueued, run, set } = readers("a", "b", "c");
  set("a", { progress: { state: "complete", since: changedAt }, rolledAt: changedAt + 1 });
  run("b");
  run("c");
  await clock.advance(1_000);
  expect([enqueued, run("b"), run("c")]).toEqual([["b", "c"], undefined, undefined]);
  set("a", { failedAlert: writeFailedAlert({ ...workload(), rolledAt: changedAt + 1 }, "Errors") });
  run("a", { reason: "hold", message: "", until: undefined, warning: false });
  await clock.advance(1_000);
  expect([enqueued.slice(2), run("b"), run("c")]).toEqual([["b", "c"], "halted", "halted"]);
});

it("new content of the object also stops a workload that was admitted before and is not written yet, an annotation does not", async () => {
  const { clock, enqueued, queue, run, workloads } = readers("a", "b");
  run("a");
  await clock.advance(1_000);
  const before = configMap("page", { a: "1" });
  const change = { key: configKey(page), before, initial: false };
  queue.configChanged({ ...change, after: { ...before, sharedWith: ",other," } }, [...workloads.keys()]);
  expect([enqueued, run("a")]).toEqual([["a"], undefined]);
  queue.configChanged({ ...change, after: configMap("page", { a: "2" }) }, [...workloads.keys()]);
  expect(run("a")).toBe("batch");
});

it("a namespace in which no workload waits costs nothing", async () => {
  const { clock, run } = readers("a", "b");
  run("a");
  await clock.advance(1_000);
  run("a", { reason: "hold", message: "", until: undefined, warning: false });
  await clock.advance(1_000);
  expect(clock.pending).toBe(0);
});

it("an edit costs nothing for the namespaces that do not read the object, also if workloads wait in thousands of them", async () => {
  const { queue } = readers();
  const hold = { reason: "batch", message: "", until: undefined, warning: false } as const;
  const plan = { outcome: "held", due: { outcome: "roll" } as never, hold, reason: "", warnings: [] } as const;
  for (let n = 0; n < 10_000; n++) {
    const of = { ...workload(), namespace: `team-${n}` };
    queue.startRun(workloadKey(of)).ended({ type: "done", workload: of, plan });
  }
  const [before, after] = [configMap("other", { a: "1" }), configMap("other", { a: "2" })];
  const edit = { key: configKey({ ...page, name: "other" }), before, after, initial: false };
  const edits = () => {
    for (let n = 0; n < 20_000; n++) queue.configChanged(edit, []);
  };
  expect(await processorMs(edits)).toBeLessThan(1_000);
});

const validator = { policy: { validator: "true" } };

it("a validator that is due goes first, and no other workload waits for one that cannot check: reported once", async () => {
  const { clock, changedAt, enqueued, unvalidated, run, set } = readers("check", "web");
  set("check", validator);
  expect([run("web"), run("check")]).toEqual(["batch", "batch"]);
  await clock.advance(1_000);
  expect([enqueued, run("check"), run("web")]).toEqual([["check"], undefined, "batch"]);
  set("check", { progress: { state: "idle" }, rolledAt: changedAt + 1 });
  const paused = readers("check", "web");
  paused.set("check", { ...validator, progress: { state: "idle" }, rolledAt: paused.changedAt + 1 });
  for (let again = 0; again < 3; again++) {
    paused.run("web");
    await paused.clock.advance(1_000);
  }
  expect(paused.enqueued).toContain("web");
  expect([unvalidated, paused.unvalidated]).toEqual([[], ["it is paused"]]);
});

it("a validator whose plan is late is waited for", async () => {
  const { clock, enqueued, run, set, plan } = readers("check", "web");
  set("check", validator);
  plan("check", unplanned);
  run("web");
  await clock.advance(60_000);
  expect(enqueued).toEqual([]);
  plan("check", planned);
  run("web");
  await clock.advance(20_000);
  expect(enqueued).toEqual(["web"]);
});
