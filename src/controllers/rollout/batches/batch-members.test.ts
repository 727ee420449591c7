import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, workload } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { workloadKey } from "../../../domain/model/workload.ts";
import type { QueuePosition } from "../../../domain/pacing/batch-member.ts";
import { unpaced } from "../../../domain/policy/pacing-flags.ts";
import { newRecord } from "../record/workload-record.ts";
import { BatchGroup, maxDelayMs } from "./batch-group.ts";
import { membersOf } from "./batch-members.ts";
import { BatchPlaces } from "./batch-places.ts";

/** Two readers of an object: one is due, and the other has to be planned if `asked` is more than `planned`. */
function readers(other: { readonly requestedRuns: number; readonly finishedRuns: number }) {
  const clock = new FakeClock();
  const first = { ...workload(), name: "first" };
  const second = { ...workload(), name: "second" };
  const workloads = new Map([first, second].map((each) => [workloadKey(each), each]));
  const records = new Map([
    [workloadKey(first), newRecord()],
    [workloadKey(second), { ...newRecord(), ...other }],
  ]);
  const flags = { ...unpaced, maxConcurrent: 5 };
  const policy = { ...defaultPolicy, pacing: flags };
  const facts = {
    clock,
    policy,
    flags,
    caches: { workload: (key: string) => workloads.get(key), lookup: () => undefined },
    record: (key: string) => records.get(key),
    restarts: () => false,
  };
  const group = new BatchGroup(first.namespace, "ConfigMap/default/web");
  const positionOf = (key: string): QueuePosition => (key === workloadKey(first) ? "due" : "none");
  const find = () =>
    group.compute(workloads.keys(), { changedAt: clock.wall(), seenAt: clock.wall() }, positionOf, facts);
  return { clock, group, find, records, workloads, facts, first: workloadKey(first), second: workloadKey(second) };
}

it("no workload rolls before every reader was planned for the change, because one of them may be the canary", () => {
  const { group, find, first, second, records } = readers({ requestedRuns: 2, finishedRuns: 1 });
  find();
  expect([group.isStale, [...group.admitted]]).toEqual([true, []]);
  records.set(second, { ...newRecord(), requestedRuns: 2, finishedRuns: 2 });
  find();
  expect([group.isStale, [...group.admitted]]).toEqual([false, [first]]);
});

it("a reader that has just settled still has to be planned", async () => {
  const { group, find, second, records, clock } = readers({ requestedRuns: 1, finishedRuns: 1 });
  const hold = {
    reason: "settling",
    since: 0,
    changed: undefined,
    until: 1_000,
    closesAt: undefined,
    reportAt: 30_000,
  } as const;
  records.set(second, { ...newRecord(), hold });
  find();
  expect(group.isStale).toBe(false);
  await clock.advance(1_000);
  find();
  expect(group.isStale).toBe(true);
});

it("after 10 s, the batch no longer waits for readers that still have to be planned", async () => {
  const { group, find, first, clock } = readers({ requestedRuns: 2, finishedRuns: 1 });
  find();
  await clock.advance(maxDelayMs - 1);
  find();
  expect(group.isStale).toBe(true);
  await clock.advance(1);
  find();
  expect([group.isStale, [...group.admitted]]).toEqual([false, [first]]);
});

it("the canary stays the canary while its write has no answer, and its status shows the new rollout", () => {
  const { workloads, facts, clock, first, second } = readers({ requestedRuns: 1, finishedRuns: 1 });
  const config = "ConfigMap/default/web";
  const places = new BatchPlaces("default");
  const complete = { state: "complete", since: undefined } as const;
  for (const name of ["first", "second"])
    workloads.set(workloadKey({ ...workload(), name }), { ...workload(), name, progress: complete });
  for (const key of [first, second]) places.due(key, [config]);
  const group = places.groupOf(config);
  const admitted = () => {
    const times = { changedAt: clock.wall(), seenAt: clock.wall() };
    group.compute(workloads.keys(), times, (key) => places.positionOf(key, config), facts);
    return [...group.admitted];
  };
  expect(admitted()).toEqual([first]);
  places.admit(first);
  const progress = { state: "progressing", step: 0, available: 1 } as const;
  workloads.set(first, { ...workload(), name: "first", progress });
  expect(admitted()).toEqual([]);
});

describe("after a restart, a workload that is held for another reason than its batch", () => {
  /** How far it is with a change a minute ago, having been rolled and complete 30 s after it; its other object changed then. */
  function stage(recordedHash: string | undefined, otherChanged: number) {
    const clock = new FakeClock();
    const at = (ms: number) => Math.floor((clock.wall() + ms) / 1000);
    const reads = { envFrom: [{ configMapRef: { name: "page" } }, { configMapRef: { name: "other" } }] };
    const held = {
      ...workload({ pod: { containers: [{ name: "web", ...reads }] } }),
      ...{
        recordedHash,
        rolledAt: at(-30_000),
        hashWrittenAt: at(-30_000),
        progress: { state: "complete", since: at(-29_000) } as const,
      },
    };
    const key = workloadKey(held);
    const hold = {
      reason: "hold",
      since: 0,
      changed: undefined,
      until: undefined,
      closesAt: undefined,
      reportAt: 0,
    } as const;
    const changed = { page: at(-60_000), other: at(otherChanged) } as Record<string, number>;
    const flags = { ...unpaced, maxConcurrent: 5, soakMs: 1_000 };
    const members = membersOf(
      {
        namespace: "default",
        config: "ConfigMap/default/page",
        changedAt: at(-60_000) * 1000,
        seenAt: undefined,
        waitsForRuns: false,
      },
      [key],
      () => "none",
      {
        ...{ clock, flags, policy: { ...defaultPolicy, pacing: flags }, restarts: () => false },
        caches: {
          workload: () => held,
          lookup: (_, __, name) => ({ ...configMap(name, { a: "1" }), changedAt: changed[name] }),
        },
        record: () => ({ ...newRecord(), requestedRuns: 1, finishedRuns: 1, hold }),
      },
    );
    return members?.map((member) => member.stage.state);
  }

  it("has passed a change if another change explains why it is due", () => {
    expect(stage("v2:old", -10_000)).toEqual(["passed"]);
  });

  it("has not passed a change if its hash was removed or replaced, because its Pods may be old", () => {
    expect(stage("v2:old", -90_000)).toEqual([]);
    expect(stage(undefined, -10_000)).toEqual([]);
  });
});
