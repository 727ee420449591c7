import { describe, expect, it } from "vitest";
import { defaultFlags, noon } from "../../../test/support/pacing/due.ts";
import type { Progress } from "../model/kind-row.ts";
import { type StageFacts, stageOf } from "./stage.ts";

const second = noon / 1000;
const complete = (since?: number): Progress => ({ state: "complete", since });
const failed = { state: "failed", rolledAt: noon + 1_000, wasComplete: true };
const unmarked = { rolledIncomplete: undefined };
const progressing: Progress = { state: "progressing", step: 1, available: 1 };

/** Returns the stage of a workload that was rolled a second after the change, `ms` milliseconds after the change. */
function stage(progress: Progress, ms: number, facts: Partial<StageFacts> = {}) {
  const workload = { ...unmarked, rolledAt: second + 1, progress };
  const known = { workload, due: false, changedAt: noon, writtenAt: undefined, completeSince: undefined };
  return stageOf({ ...known, resumed: undefined, ...facts }, defaultFlags, noon + ms);
}

describe("the stage of a workload for a change", () => {
  it("is undefined if the workload was not rolled since and need not be", () => {
    const workload = { ...unmarked, rolledAt: second - 1, progress: complete() };
    expect(stage(progressing, 5_000, { workload })).toBeUndefined();
    expect(stage(progressing, 5_000, { workload: { ...workload, rolledAt: 0 } })).toBeUndefined();
  });

  it("is undefined if no Pod is replaced", () => {
    expect(stage({ state: "idle" }, 60_000)).toBeUndefined();
    expect(stage({ state: "idle" }, 60_000, { due: true })).toBeUndefined();
  });

  it("is undefined for a forged rollout in the future", () => {
    const workload = { ...unmarked, rolledAt: second + 86_400, progress: progressing };
    expect(stage(progressing, 5_000, { workload })).toBeUndefined();
  });

  it("is due, whatever it was rolled for before", () => {
    expect(stage(progressing, 5_000, { due: true })).toEqual({
      state: "due",
      resumedAt: undefined,
      wasComplete: false,
    });
    expect(stage({ state: "failed" }, 5_000, { due: true })).toEqual({
      state: "due",
      resumedAt: undefined,
      wasComplete: false,
    });
  });

  it("includes a rollout in the second of the change if this process saw it after the change", () => {
    const workload = { ...unmarked, rolledAt: second, progress: progressing };
    const at = (seenAt: number | undefined, writtenAt: number | undefined) =>
      stage(progressing, 5_000, { workload, changedAt: noon, seenAt, writtenAt });
    expect(at(undefined, undefined)).toBeUndefined();
    expect(at(undefined, noon + 100)).toBeUndefined();
    expect(at(undefined, noon + 1_000)).toMatchObject({ state: "progressing" });
    expect(at(noon + 900, noon + 100)).toBeUndefined();
    expect(at(noon + 900, noon + 950)).toMatchObject({ state: "progressing" });
  });

  it("is undefined if it is still due for the change, however late it was rolled", () => {
    expect(stage(complete(second + 3), 5_000, { isDueForIt: true })).toBeUndefined();
    expect(stage(complete(second + 3), 60_000, { isDueForIt: true })).toBeUndefined();
    expect(stage(complete(second + 3), 60_000, { isDueForIt: true, due: true })).toMatchObject({ state: "due" });
  });

  it("does not soak longer if the clock of the API server is ahead", () => {
    const ahead = { ...unmarked, rolledAt: second + 300, progress: complete(second + 303) };
    const at = (ms: number) => stage(complete(), ms, { workload: ahead, completeSince: noon + 3_000 });
    expect(at(5_000)).toEqual({ state: "soaking", until: noon + 3_000 + defaultFlags.soakMs });
    expect(at(3_000 + defaultFlags.soakMs)).toEqual({ state: "passed" });
  });

  it("includes a write of this process that no cache shows yet", () => {
    const workload = { ...unmarked, rolledAt: 0, progress: progressing };
    const unheard = { workload, seenAt: noon + 100, writtenAt: noon + 2_000 };
    expect(stage(progressing, 3_000, unheard)).toMatchObject({ state: "progressing" });
  });

  it("is under way until the timeout", () => {
    expect(stage(progressing, 600_999)).toEqual({ state: "progressing", until: noon + 601_000, wasComplete: true });
    expect(stage(progressing, 601_000)).toEqual(failed);
    expect(stage({ state: "failed" }, 2_000)).toEqual(failed);
  });

  it("is under way until the timeout after its last progress", () => {
    const at = (ms: number) => stage(progressing, ms, { advancedAt: noon + 500_000 });
    expect(at(1_099_999)).toMatchObject({ state: "progressing", until: noon + 1_100_000 });
    expect(at(1_100_000)).toEqual(failed);
    expect(stage(progressing, 601_000, { advancedAt: noon - 500_000 })).toEqual(failed);
  });

  it("shows whether it was complete before its last rollout", () => {
    const workload = { rolledIncomplete: "never", rolledAt: second + 1, progress: progressing };
    expect(stage(progressing, 600_000, { workload })).toMatchObject({ state: "progressing", wasComplete: false });
    expect(stage(progressing, 601_000, { workload })).toEqual({ ...failed, wasComplete: false });
    expect(stage(progressing, 601_000)).toEqual(failed);
    expect(stage(complete(), 5_000, { due: true })).toMatchObject({ wasComplete: true });
    expect(stage({ ...progressing, wasComplete: true }, 5_000, { due: true })).toMatchObject({ wasComplete: true });
  });

  it("shows a result for a change that an earlier rollout included, before which it was complete", () => {
    const rolledBefore = (ms: number) => ({
      rolledIncomplete: `${noon + ms}`,
      rolledAt: second + 60,
      progress: progressing,
    });
    const at = (ms: number, facts: Partial<StageFacts> = {}) =>
      stage(progressing, 61_000, { workload: rolledBefore(ms), ...facts });
    expect(at(1_000)).toMatchObject({ state: "progressing", wasComplete: true });
    expect(at(-1_000)).toMatchObject({ state: "progressing", wasComplete: false });
    // In the second of the change, it may not have included it. The clock of this process is not that of the API.
    expect(at(0)).toMatchObject({ wasComplete: false });
    expect(at(-1_000, { seenAt: noon - 60_000 })).toMatchObject({ wasComplete: false });
  });

  it("is under way without a timeout if its controller reports a timeout itself", () => {
    expect(stage({ ...progressing, selfTimed: true }, 86_400_000)).toMatchObject({ state: "progressing" });
  });

  it("soaks from its completion by status, otherwise from its observed completion, and never before its rollout", () => {
    expect(stage(complete(second + 5), 14_999)).toEqual({ state: "soaking", until: noon + 15_000 });
    expect(stage(complete(second + 5), 15_000)).toEqual({ state: "passed" });
    expect(stage(complete(), 15_000)).toEqual({ state: "soaking", until: noon + 25_000 });
    expect(stage(complete(), 15_000, { completeSince: noon + 5_000 })).toEqual({ state: "passed" });
    expect(stage(complete(second - 100), 10_999)).toEqual({ state: "soaking", until: noon + 11_000 });
  });

  it("has passed after its soak time, even if it loses a Pod or rolls for another reason later", () => {
    expect(stage(progressing, 700_000, { soaked: true })).toEqual({ state: "passed" });
    expect(stage({ state: "failed" }, 700_000, { soaked: true })).toEqual({ state: "passed" });
    expect(stage(complete(), 15_000, { soaked: true, reverted: true })).toBeUndefined();
  });

  it("is undefined if another client removed the hash", () => {
    expect(stage(complete(second + 5), 15_000, { reverted: true })).toBeUndefined();
    expect(stage(progressing, 15_000, { reverted: true })).toMatchObject({ state: "progressing" });
  });
});

describe("a rollout whose Pods do not start", () => {
  const newPods = { state: "stuck", pod: "web-0", reason: "Unschedulable", message: "0/1 nodes" } as const;
  const stuck = { state: "stuck", reason: "Unschedulable", wasComplete: true };
  const late = 700_000;

  it("is stuck and not failed, whatever its status and however long", () => {
    for (const progress of [progressing, { state: "failed" } as const])
      expect(stage(progress, late, { newPods })).toEqual({ ...stuck, until: Number.POSITIVE_INFINITY });
    expect(stage(complete(second + 30), late, { newPods })).toEqual({ state: "passed" });
  });

  it("holds a change of a Secret only until --rollout-timeout", () => {
    const until = (now: number) => stage(progressing, now, { newPods, isSecret: true });
    expect(until(60_000)).toMatchObject({ ...stuck, until: expect.any(Number) });
    expect(until(late)).toEqual({ ...stuck, until: undefined });
  });

  it("has not failed before its Pods are read", () => {
    const unread = { newPods: { state: "unread" } } as const;
    for (const progress of [progressing, { state: "failed" } as const]) {
      expect(stage(progress, late, unread)).toMatchObject({ state: "progressing" });
      expect(stage(progress, late)).toMatchObject({ state: "failed" });
    }
  });

  it("shows nothing if a person resumed it", () => {
    expect(stage(progressing, 60_000, { newPods, resumed: noon + 50_000 })).toBeUndefined();
  });
});

describe("a resumed workload", () => {
  it("is not failed if it was rolled before", () => {
    const over: Progress = { state: "failed" };
    expect(stage(over, 60_000, { resumed: noon + 2_000 })).toBeUndefined();
    expect(stage(over, 60_000, { resumed: noon + 1_999 })).toEqual(failed);
    expect(stage(progressing, 700_000, { resumed: noon + 650_000 })).toBeUndefined();
    // Also before Kubernetes or the timeout reports the failure: nothing waits for this workload any more.
    const resumed = { resumed: noon + 50_000 };
    expect(
      stage(progressing, 60_000, {
        ...resumed,
        newPods: { state: "restarts", pod: "web-0", container: "app", restarts: 3 },
      }),
    ).toBeUndefined();
    expect(
      stage(complete(second + 30), 60_000, {
        ...resumed,
        newPods: { state: "restarts", pod: "web-0", container: "app", restarts: 3 },
      }),
    ).toBeUndefined();
    expect(stage(progressing, 60_000, resumed)).toBeUndefined();
    expect(stage(complete(second + 55), 80_000, resumed)).toEqual({ state: "passed" });
  });

  it("may roll alone if the object changed before", () => {
    expect(stage(complete(), 60_000, { due: true, resumed: noon })).toMatchObject({ state: "due", resumedAt: noon });
    expect(stage(complete(), 60_000, { due: true, resumed: noon - 1 })).toMatchObject({
      state: "due",
      resumedAt: undefined,
    });
  });

  it("ignores a time in the future, apart from a small clock difference", () => {
    expect(stage({ state: "failed" }, 60_000, { resumed: noon + 119_000 })).toBeUndefined();
    expect(stage({ state: "failed" }, 60_000, { resumed: noon + 121_000 })).toEqual(failed);
    expect(stage(complete(), 60_000, { due: true, resumed: noon + 121_000 })).toMatchObject({
      state: "due",
      resumedAt: undefined,
    });
  });
});
