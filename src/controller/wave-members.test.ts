import { expect, it } from "vitest";
import { FakeClock } from "../lib/fake-clock.ts";
import { unpaced } from "../rollout/policy/pacing-flags.ts";
import { defaultPolicy, workload } from "../rollout/test-objects.ts";
import { workloadKey } from "../rollout/workload.ts";
import { longestPutOffMs, WaveGroup } from "./wave-group.ts";
import type { InLine } from "./wave-members.ts";
import { newRecord } from "./workload-record.ts";

/** Two readers of an object, of which one is due, and the other to be planned where `asked` is more than `planned`. */
function readers(other: { readonly asked: number; readonly planned: number }) {
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
    caches: { workload: (key: string) => workloads.get(key) },
    record: (key: string) => records.get(key),
  };
  const group = new WaveGroup(first.namespace, "ConfigMap/default/web");
  const inLine = (key: string): InLine => (key === workloadKey(first) ? "due" : "no");
  const find = () => group.find(workloads.keys(), { changedAt: clock.wall(), seenAt: clock.wall() }, inLine, facts);
  return { clock, group, find, records, first: workloadKey(first), second: workloadKey(second) };
}

it("nobody goes before every reader was planned for the change: one of them may go first", () => {
  const { group, find, first, second, records } = readers({ asked: 2, planned: 1 });
  find();
  expect([group.isStale, [...group.go]]).toEqual([true, []]);
  records.set(second, { ...newRecord(), asked: 2, planned: 2 });
  find();
  expect([group.isStale, [...group.go]]).toEqual([false, [first]]);
});

it("one that has just settled is still to be planned", async () => {
  const { group, find, second, records, clock } = readers({ asked: 1, planned: 1 });
  const hold = {
    reason: "settling",
    since: 0,
    changed: undefined,
    until: 1_000,
    closesAt: undefined,
    tellAt: 30_000,
  } as const;
  records.set(second, { ...newRecord(), hold });
  find();
  expect(group.isStale).toBe(false);
  await clock.advance(1_000);
  find();
  expect(group.isStale).toBe(true);
});

it("readers that are always just to be planned are not waited for after 10 s", async () => {
  const { group, find, first, clock } = readers({ asked: 2, planned: 1 });
  find();
  await clock.advance(longestPutOffMs - 1);
  find();
  expect(group.isStale).toBe(true);
  await clock.advance(1);
  find();
  expect([group.isStale, [...group.go]]).toEqual([false, [first]]);
});
