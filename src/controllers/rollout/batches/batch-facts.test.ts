import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, unpaced, workload } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { type Workload, workloadKey } from "../../../domain/model/workload-shape.ts";
import { batchMember } from "../../../domain/pacing/batch-member.ts";
import { rememberProgress } from "../memory/pacing-memory.ts";
import { newFindings, newMemory, type WorkloadMemory } from "../memory/workload-memory.ts";
import { BatchFacts, type BatchFactsOptions } from "./batch-facts.ts";

const flags = { ...unpaced, maxConcurrent: 5, soakMs: 1_000 };
const nothing: BatchFactsOptions["caches"] = {
  workload: () => undefined,
  lookup: () => undefined,
  workloadsReading: () => [],
};

function facts(clock: FakeClock, caches: Partial<typeof nothing>, memory?: Partial<WorkloadMemory>): BatchFacts {
  return new BatchFacts({
    ...{ clock, flags, policy: { ...defaultPolicy, pacing: flags }, newPods: () => undefined },
    caches: { ...nothing, ...caches },
    memory: () => memory && { ...newMemory(), ...memory },
  });
}

const hold = (reason: "hold" | "settling", untilMonotonic?: number) => ({
  ...{
    reason,
    untilMonotonic,
    since: 0,
    changed: undefined,
    isByTimes: false,
    closesAtMonotonic: undefined,
    reportAt: 0,
  },
});

it("a thousand namespaces that share an object visit all its readers once a second, not once each", async () => {
  const clock = new FakeClock();
  const names = Array.from({ length: 1_000 }, (_, index) => `tenant-${index}`);
  let gone = 0;
  const readers = facts(clock, {
    *workloadsReading() {
      for (const namespace of names) {
        for (const name of ["a", "b"]) {
          gone++;
          yield `Deployment/${namespace}/${name}`;
        }
      }
    },
  });
  const askAll = () => {
    for (const name of names) {
      expect(readers.readersIn(name, "ConfigMap/shared/web")).toEqual([`Deployment/${name}/a`, `Deployment/${name}/b`]);
    }
  };
  askAll();
  await clock.advance(999);
  askAll();
  expect(gone).toBe(2_000);
  await clock.advance(1);
  askAll();
  expect(gone).toBe(4_000);
  expect(readers.readersIn("stranger", "ConfigMap/shared/web")).toEqual([]);
});

it("the time of a change is that of the content, and a process that has seen no edit knows that it may be later", () => {
  const clock = new FakeClock();
  const stored = { ...configMap("page", { a: "1" }), editedAt: 100, changedAt: 200 };
  const known = facts(clock, { lookup: () => stored });
  const key = "ConfigMap/default/page";
  expect(known.changeOf(key)).toMatchObject({ changedAt: 100_000, isSeen: false });
  known.configChanged({ key, initial: false, before: stored, after: { ...stored, directive: "hold", changedAt: 300 } });
  known.configChanged({ key, initial: false, before: undefined, after: stored });
  expect(known.changeOf(key)).toMatchObject({ changedAt: 100_000, isSeen: false });
  known.configChanged({
    key,
    initial: false,
    before: { ...configMap("page", { a: "0" }), editedAt: 50, changedAt: 200 },
    after: stored,
  });
  expect(known.changeOf(key)).toMatchObject({ changedAt: 100_000, isSeen: true });
});

describe("a reader must be planned before others may start", () => {
  const of = workload();
  const key = workloadKey(of);

  it.each<[string, Partial<WorkloadMemory> | undefined, boolean]>([
    ["if it was never planned", undefined, true],
    ["if a run was requested since the last one", { requestedRuns: 2, finishedRuns: 1 }, true],
    ["not if the last requested run has ended", { requestedRuns: 2, finishedRuns: 2 }, false],
  ])("%s", (_when, memory, expected) => {
    const known = facts(new FakeClock(), { workload: () => of }, memory);
    expect(known.membersIn("default")(key)?.mustBePlanned).toBe(expected);
  });

  it("if its configuration has just settled", async () => {
    const clock = new FakeClock();
    const known = facts(clock, { workload: () => of }, { hold: hold("settling", 1_000) });
    expect(known.membersIn("default")(key)?.mustBePlanned).toBe(false);
    await clock.advance(1_000);
    expect(known.membersIn("default")(key)?.mustBePlanned).toBe(true);
  });
});

describe("after a restart, a workload that is held for another reason than its batch", () => {
  /** How far it is with a change a minute ago, having been rolled and complete 30 s after it; its other object changed then. */
  function stage(recordedHash: string | undefined, otherChanged: number) {
    const clock = new FakeClock();
    const at = (ms: number) => Math.floor((clock.wall() + ms) / 1000);
    const reads = { envFrom: [{ configMapRef: { name: "page" } }, { configMapRef: { name: "other" } }] };
    const held: Workload = {
      ...workload({ pod: { containers: [{ name: "web", ...reads }] } }),
      recordedHash,
      rolledAt: at(-30_000),
      hashWrittenAt: at(-30_000),
      progress: { state: "complete", since: at(-29_000) },
    };
    const changed = { page: at(-60_000), other: at(otherChanged) } as Record<string, number>;
    const lookup: BatchFactsOptions["caches"]["lookup"] = (_, __, name) => ({
      ...configMap(name, { a: "1" }),
      changedAt: changed[name],
    });
    const memory = { requestedRuns: 1, finishedRuns: 1, hold: hold("hold") };
    const known = facts(clock, { workload: () => held, lookup }, memory).membersIn("default")(workloadKey(held));
    const change = { changedAt: at(-60_000) * 1000, seenAt: undefined };
    const context = { lookup, flags, now: clock.wall() };
    return known && batchMember(known, "none", "ConfigMap/default/page", change, context)?.stage.state;
  }

  it("has passed a change if another change explains why it is due", () => {
    expect(stage("v2:old", -10_000)).toBe("passed");
  });

  it("has not passed a change if its hash was removed or replaced, because its Pods may be old", () => {
    expect(stage("v2:old", -90_000)).toBeUndefined();
    expect(stage(undefined, -10_000)).toBeUndefined();
  });
});

it.each<readonly [string, number | undefined, string]>([
  ["makes progress until it was planned", undefined, "progressing"],
  ["makes progress until the timeout after its first plan", 1, "progressing"],
  ["fails after the timeout", 0, "failed"],
])("a rollout of an earlier leader whose clock is an hour behind %s", async (_, plannedAt, state) => {
  const clock = new FakeClock();
  await clock.advance(flags.rolloutTimeoutMs);
  const rolledAt = Math.floor(clock.wall() / 1000) - 3_600;
  const progress = { state: "progressing", step: 1, available: 0 } as const;
  const rolled: Workload = { ...workload(), recordedHash: "v2:new", rolledAt, hashWrittenAt: rolledAt, progress };
  const memory = { findings: newFindings() };
  if (plannedAt !== undefined) rememberProgress(memory.findings, rolled, plannedAt);
  const known = facts(clock, { workload: () => rolled }, plannedAt === undefined ? undefined : memory);
  const member = known.membersIn("default")(workloadKey(rolled));
  const change = { changedAt: (rolledAt - 60) * 1000, seenAt: undefined };
  const context = { lookup: () => undefined, flags, now: clock.wall() };
  expect(member && batchMember(member, "none", "ConfigMap/default/page", change, context)?.stage.state).toBe(state);
});

it.each<readonly [string, Partial<WorkloadMemory>, string | undefined]>([
  ["halts the change if a plan has found the workload current", { state: "current" }, "failed"],
  ["shows nothing if an object has changed since that plan", { state: "current", requestedRuns: 1 }, undefined],
  ["shows nothing if the workload is due again", { state: "held", hold: hold("hold") }, undefined],
])("after a change of leader, a rollout that failed in the second of its change %s", (_, memory, state) => {
  const clock = new FakeClock();
  const rolledAt = Math.floor(clock.wall() / 1000) - 60;
  const failed: Workload = { ...workload(), recordedHash: "v2:new", rolledAt, progress: { state: "failed" } };
  const known = facts(clock, { workload: () => failed }, memory).membersIn("default")(workloadKey(failed));
  const change = { changedAt: rolledAt * 1000, seenAt: clock.wall() };
  const context = { lookup: () => undefined, flags, now: clock.wall() };
  expect(known && batchMember(known, "none", "ConfigMap/default/page", change, context)?.stage.state).toBe(state);
});
