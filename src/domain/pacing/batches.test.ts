import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultFlags } from "../../../test/support/pacing/due.ts";
import type { PacingFlags } from "../policy/policy.ts";
import { admitBatch, type BatchAdmission, type BatchMember } from "./batches.ts";
import type { Stage } from "./stage.ts";

const object = { kind: "ConfigMap", namespace: "shop", name: "shared" } as const;
const due: Stage = { state: "due", resumedAt: undefined, wasComplete: true };
const resumed: Stage = { state: "due", resumedAt: 5_000, wasComplete: true };
const underWay: Stage = { state: "progressing", until: 600_000, wasComplete: true };
const soaking: Stage = { state: "soaking", until: 10_000 };
const passed: Stage = { state: "passed" };
const dueIncomplete: Stage = { ...due, wasComplete: false };
const underWayIncomplete: Stage = { ...underWay, wasComplete: false };
const failedIncomplete: Stage = { state: "failed", rolledAt: 4_000, wasComplete: false };
const failed: Stage = { state: "failed", rolledAt: 4_000, wasComplete: true };

/** Returns members with these stages, named a000, a001, …, in order. */
function members(...counts: readonly (readonly [number, Stage])[]): readonly BatchMember[] {
  const stages = counts.flatMap(([count, stage]) => Array.from({ length: count }, () => stage));
  return stages.map((stage, index) => ({ key: `a${String(index).padStart(3, "0")}`, priority: 0, weight: 0, stage }));
}

function batch(group: readonly BatchMember[], flags: Partial<PacingFlags> = {}): BatchAdmission {
  return admitBatch({ object, namespace: "shop", members: group }, { ...defaultFlags, ...flags });
}

const admitted = (...given: Parameters<typeof batch>) => [...batch(...given).admitted];

describe("a workload whose containers restart again and again", () => {
  const restarts: Stage = { ...failed, halts: true };

  it("halts a change like a failed canary, also when the canary has passed", () => {
    expect(batch(members([5, passed], [1, restarts], [10, due])).halted).toBe(true);
    expect(batch(members([5, passed], [1, failed], [10, due])).halted).toBe(false);
  });

  it("halts nothing with --halt-after-failures=0, or if it was broken before", () => {
    expect(batch(members([1, restarts], [10, due]), { haltAfterFailures: 0 }).halted).toBe(false);
    expect(batch(members([5, passed], [1, { ...restarts, wasComplete: false }], [10, due])).halted).toBe(false);
  });

  it("is looked for among the workloads of the canary only", () => {
    expect([...batch(members([1, underWay], [10, due])).canary]).toEqual(["a000"]);
    expect([...batch(members([1, soaking], [10, due])).canary]).toEqual(["a000"]);
    expect([...batch(members([1, passed], [5, underWay], [10, due])).canary]).toEqual([]);
  });
});

describe("a workload that is stuck", () => {
  const stuck: Stage = { state: "stuck", until: Number.POSITIVE_INFINITY, reason: "Unschedulable", wasComplete: true };

  const named = (group: readonly BatchMember[]) =>
    group.map((each) => ({ ...each, key: `Deployment/shop/${each.key}` }));

  it("halts nothing: the others wait for it, and their hold names it with the reason", () => {
    const group = named(members([1, stuck], [10, due]));
    const { halted, admitted, hold, canary } = batch(group, { haltAfterFailures: 1 });
    expect({ halted, admitted: [...admitted], canary: [...canary] }).toEqual({
      ...{ halted: false, admitted: [] },
      canary: ["Deployment/shop/a000"],
    });
    expect(hold).toMatchObject({ reason: "batch", warning: false });
    expect(hold.message).toContain('Deployment "a000", which rolls first after the change');
    expect(hold.message).toContain("is stuck (Unschedulable)");
  });

  it("takes a place in its batch", () => {
    expect(admitted(members([1, passed], [2, stuck], [10, due]), { maxConcurrent: 3 })).toEqual(["a003"]);
  });

  it("lets the next one go first when others do not wait any more", () => {
    expect(batch(named(members([1, { ...stuck, until: 9_000 }], [3, due]))).nextCheckAt).toBe(9_000);
    const left: Stage = { ...stuck, until: undefined };
    expect(admitted(members([1, left], [3, due]), { maxConcurrent: 1 })).toEqual(["a001"]);
    expect(admitted(members([1, left], [1, underWay], [3, due]))).toEqual([]);
    expect(admitted(members([1, left], [1, passed], [3, due])).length).toBe(3);
  });
});

describe("a change that concerns many workloads", () => {
  it("starts with the canary", () => {
    expect(admitted(members([200, due]))).toEqual(["a000"]);
    expect(batch(members([200, due])).hold).toMatchObject({
      reason: "batch",
      object,
      until: undefined,
      warning: false,
    });
  });

  it("waits until the canary is complete and has soaked", () => {
    expect(admitted(members([1, underWay], [199, due]))).toEqual([]);
    expect(admitted(members([1, soaking], [199, due]))).toEqual([]);
    expect(batch(members([1, soaking], [199, due]))).toMatchObject({ nextCheckAt: 10_000, hold: { until: 10_000 } });
  });

  it("continues with at most --max-concurrent-rollouts at once", () => {
    expect(admitted(members([1, passed], [199, due])).length).toBe(50);
    expect(admitted(members([1, passed], [30, underWay], [169, due])).length).toBe(20);
    expect(admitted(members([1, passed], [50, underWay], [149, due]))).toEqual([]);
    expect(admitted(members([1, passed], [20, soaking], [30, underWay], [149, due])).length).toBe(20);
    expect(admitted(members([1, passed], [199, due]), { maxConcurrent: 4 }).length).toBe(4);
  });

  it("waits for nothing if it concerns only the canary", () => {
    expect(admitted(members([1, due]))).toEqual(["a000"]);
  });

  it("orders workloads by priority, higher first, then by name", () => {
    const group = members([4, due]).map((member, index) => ({ ...member, priority: [0, -1, 5, 0][index] ?? 0 }));
    const rest = [{ ...members([1, passed])[0], key: "canary" } as BatchMember, ...group];
    expect(admitted(rest, { maxConcurrent: 3 })).toEqual(["a002", "a000", "a003"]);
    expect(admitted(rest.toReversed(), { maxConcurrent: 3 })).toEqual(["a002", "a000", "a003"]);
  });

  it("does not wait for a workload that another change halts", () => {
    expect(admitted(members([1, { state: "heldElsewhere" }], [199, due]))).toEqual(["a001"]);
  });

  it("has one message for all waiting workloads, whichever roll", () => {
    const one = batch(members([1, underWay], [199, due])).hold;
    const later = batch(members([30, passed], [50, underWay], [120, due])).hold;
    expect(later).toEqual(one);
    expect(one.message).toBe(
      'Waiting for other workloads that roll first after the change of ConfigMap "shared". Starts when they are complete.',
    );
  });
});

describe("a change is halted", () => {
  it("by one failure in the canary", () => {
    expect(batch(members([1, failed], [199, due]))).toMatchObject({ halted: true, hold: { reason: "halted" } });
    expect(admitted(members([1, failed], [199, due]))).toEqual([]);
    expect(batch(members([1, failed])).halted).toBe(false);
  });

  it("by three later failures, and continues until then", () => {
    expect(admitted(members([1, passed], [2, failed], [197, due])).length).toBe(50);
    const halted = batch(members([1, passed], [3, failed], [5, underWay], [191, due]));
    expect([...halted.admitted]).toEqual([]);
    expect(halted.hold).toMatchObject({ reason: "halted", object, warning: true, until: undefined });
    expect(halted.hold.message).toMatch(/wave resume configmap\/shared/);
  });

  it("until the failed workloads recover", () => {
    expect(admitted(members([1, passed], [198, due])).length).toBe(50);
    expect(admitted(members([1, soaking], [199, due]))).toEqual([]);
  });

  it("but not for workloads that a person resumed", () => {
    expect(admitted(members([1, failed], [3, resumed], [196, due]))).toEqual(["a001", "a002", "a003"]);
  });

  it("also for resumed workloads if a later rollout failed", () => {
    const later: Stage = { state: "failed", rolledAt: 6_000, wasComplete: true };
    expect(admitted(members([1, passed], [2, failed], [1, later], [196, resumed]))).toEqual([]);
  });

  it("and resumed workloads respect the limit of concurrent rollouts", () => {
    expect(admitted(members([1, failed], [40, underWay], [150, resumed])).length).toBe(10);
  });

  it("never with --halt-after-failures=0: a failure ends the canary like a success", () => {
    expect(admitted(members([1, failed], [199, due]), { haltAfterFailures: 0 }).length).toBe(50);
    expect(batch(members([100, failed], [100, due]), { haltAfterFailures: 0 }).halted).toBe(false);
  });
});

describe("a workload that is not complete before its rollout", () => {
  it("is not the canary as long as another workload can be", () => {
    expect(admitted(members([3, dueIncomplete], [5, due]))).toEqual(["a003"]);
    expect(admitted(members([3, dueIncomplete], [1, underWay], [5, due]))).toEqual([]);
    expect(admitted(members([3, dueIncomplete], [1, soaking], [5, due]))).toEqual([]);
    expect(admitted(members([3, underWayIncomplete], [5, due]))).toEqual(["a003"]);
  });

  it("comes with the rest, after the complete workloads", () => {
    expect(admitted(members([3, dueIncomplete], [1, passed], [5, due]), { maxConcurrent: 6 })).toEqual([
      ...["a004", "a005", "a006", "a007", "a008"],
      "a000",
    ]);
    const first = { key: "z", priority: 9, weight: 0, stage: dueIncomplete };
    expect(admitted([first, ...members([1, passed], [1, due])], { maxConcurrent: 1 })).toEqual(["a001"]);
  });

  it("halts nothing if it fails", () => {
    expect(batch(members([1, failedIncomplete], [9, due]))).toMatchObject({ halted: false, failed: new Set() });
    expect(admitted(members([1, failedIncomplete], [9, due]))).toEqual(["a001"]);
    expect(batch(members([1, passed], [9, failedIncomplete], [9, due])).halted).toBe(false);
    const halted = batch(members([1, failedIncomplete], [1, failed], [9, due]));
    expect(halted).toMatchObject({ halted: true, failed: new Set(["a001"]) });
  });

  it("goes alone if there is no other, and one after the other as long as each fails", () => {
    expect(admitted(members([4, dueIncomplete]))).toEqual(["a000"]);
    expect(admitted(members([1, underWayIncomplete], [3, dueIncomplete]))).toEqual([]);
    expect(admitted(members([1, failedIncomplete], [3, dueIncomplete]))).toEqual(["a001"]);
    expect(admitted(members([1, passed], [3, dueIncomplete])).length).toBe(3);
  });
});

describe("any batches", () => {
  const stage = fc.oneof(
    { weight: 5, arbitrary: fc.constant(due) },
    fc.constantFrom<Stage>(resumed, passed, failed, dueIncomplete, failedIncomplete, { state: "heldElsewhere" }),
    fc.nat(1_000).map<Stage>((until) => ({ state: "progressing", until, wasComplete: until % 2 === 0 })),
    fc.nat(1_000).map<Stage>((until) => ({ state: "soaking", until })),
  );
  const group = fc
    .array(fc.tuple(stage, fc.integer({ min: -2, max: 2 })), { maxLength: 30 })
    .map((all) =>
      all.map(([each, priority], index): BatchMember => ({ key: `w${index}`, priority, weight: 0, stage: each })),
    );
  const flags = fc.record({
    maxConcurrent: fc.integer({ min: 1, max: 6 }),
    haltAfterFailures: fc.nat(4),
  });
  const is = (state: Stage["state"]) => (member: BatchMember) => member.stage.state === state;

  it("admit only due workloads, within the limit, in order of priority", () => {
    fc.assert(
      fc.property(group, flags, (all, given) => {
        const { admitted: may, halted } = batch(all, given);
        const waiting = all.filter(is("due"));
        const going = waiting.filter(({ key }) => may.has(key));
        expect(going.length).toBe(may.size);
        if (halted) return;
        expect(all.filter(is("progressing")).length + going.length).toBeLessThanOrEqual(
          Math.max(given.maxConcurrent, all.filter(is("progressing")).length),
        );
        const isComplete = ({ stage: each }: BatchMember) => each.state === "due" && each.wasComplete;
        for (const alike of [isComplete, (member: BatchMember) => !isComplete(member)]) {
          const lowest = Math.min(...going.filter(alike).map(({ priority }) => priority));
          const waitingAlike = waiting.filter((member) => alike(member) && !may.has(member.key));
          expect(waitingAlike.filter(({ priority }) => priority > lowest)).toEqual([]);
        }
      }),
    );
  });

  it("always admit a workload, or end by time, or are halted by a failure, or have no waiting workload", () => {
    fc.assert(
      fc.property(group, flags, (all, given) => {
        const { admitted: may, halted, nextCheckAt } = batch(all, given);
        const isBlocked = all.some(is("due")) && may.size === 0;
        if (!isBlocked) return;
        if (halted) expect(all.some(is("failed"))).toBe(true);
        else expect(nextCheckAt).toBeDefined();
      }),
    );
  });
});
