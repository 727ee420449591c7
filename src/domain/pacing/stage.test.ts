import { describe, expect, it } from "vitest";
import { defaultFlags, noon } from "../../../test/support/pacing/due.ts";
import type { Progress } from "../model/progress.ts";
import { type StageFacts, stageOf } from "./stage.ts";

const second = noon / 1000;
const complete = (since?: number): Progress => ({ state: "complete", since });
const failed = { state: "failed", rolledAt: noon + 1_000 };
const progressing: Progress = { state: "progressing", step: 1, available: 1 };

/** Of a workload that was rolled a second after the change, at so many milliseconds after the change. */
function stage(progress: Progress, ms: number, facts: Partial<StageFacts> = {}) {
  const workload = { rolledAt: second + 1, progress };
  const known = { workload, due: false, changedAt: noon, writtenAt: undefined, completeSince: undefined };
  return stageOf({ ...known, resumed: undefined, ...facts }, defaultFlags, noon + ms);
}

describe("a workload and a change", () => {
  it("have nothing to do with each other where it was not rolled since and need not be", () => {
    const workload = { rolledAt: second - 1, progress: complete() };
    expect(stage(progressing, 5_000, { workload })).toBeUndefined();
    expect(stage(progressing, 5_000, { workload: { ...workload, rolledAt: 0 } })).toBeUndefined();
  });

  it("nor where no Pod of it is replaced: that it went well says nothing", () => {
    expect(stage({ state: "idle" }, 60_000)).toBeUndefined();
    expect(stage({ state: "idle" }, 60_000, { due: true })).toBeUndefined();
  });

  it("nor where it was rolled in a future that somebody wrote, and so would hold the others until then", () => {
    const workload = { rolledAt: second + 86_400, progress: progressing };
    expect(stage(progressing, 5_000, { workload })).toBeUndefined();
  });

  it("where it is due, whatever it was rolled for before", () => {
    expect(stage(progressing, 5_000, { due: true })).toEqual({ state: "due", resumedAt: undefined });
    expect(stage({ state: "failed" }, 5_000, { due: true })).toEqual({ state: "due", resumedAt: undefined });
  });

  it("where it was rolled in the second of the change, if this process saw that it was after the change", () => {
    const workload = { rolledAt: second, progress: progressing };
    const at = (seenAt: number | undefined, writtenAt: number | undefined) =>
      stage(progressing, 5_000, { workload, changedAt: noon, seenAt, writtenAt });
    expect(at(undefined, undefined)).toBeUndefined();
    expect(at(undefined, noon + 100)).toBeUndefined();
    expect(at(undefined, noon + 1_000)).toMatchObject({ state: "underWay" });
    expect(at(noon + 900, noon + 100)).toBeUndefined();
    expect(at(noon + 900, noon + 950)).toMatchObject({ state: "underWay" });
  });

  it("not where it is still due for it, however late it was rolled: that was for the state before", () => {
    expect(stage(complete(second + 3), 5_000, { behind: true })).toBeUndefined();
    expect(stage(complete(second + 3), 60_000, { behind: true })).toBeUndefined();
    expect(stage(complete(second + 3), 60_000, { behind: true, due: true })).toMatchObject({ state: "due" });
  });

  it("soaks for no longer where the API server's clock is minutes ahead", () => {
    const ahead = { rolledAt: second + 300, progress: complete(second + 303) };
    const at = (ms: number) => stage(complete(), ms, { workload: ahead, completeSince: noon + 3_000 });
    expect(at(5_000)).toEqual({ state: "soaking", until: noon + 3_000 + defaultFlags.soakMs });
    expect(at(3_000 + defaultFlags.soakMs)).toEqual({ state: "passed" });
  });

  it("where this process wrote it and no cache has heard", () => {
    const workload = { rolledAt: 0, progress: progressing };
    const unheard = { workload, seenAt: noon + 100, writtenAt: noon + 2_000 };
    expect(stage(progressing, 3_000, unheard)).toMatchObject({ state: "underWay" });
  });

  it("while it is rolled, until the timeout", () => {
    expect(stage(progressing, 600_999)).toEqual({ state: "underWay", until: noon + 601_000 });
    expect(stage(progressing, 601_000)).toEqual(failed);
    expect(stage({ state: "failed" }, 2_000)).toEqual(failed);
  });

  it("while it is rolled, for as long as that takes, where its controller tells when it takes too long", () => {
    expect(stage({ ...progressing, selfTimed: true }, 86_400_000)).toMatchObject({ state: "underWay" });
  });

  it("while it soaks, since it was complete by its status, else since that was seen, and since its roll at the earliest", () => {
    expect(stage(complete(second + 5), 14_999)).toEqual({ state: "soaking", until: noon + 15_000 });
    expect(stage(complete(second + 5), 15_000)).toEqual({ state: "passed" });
    expect(stage(complete(), 15_000)).toEqual({ state: "soaking", until: noon + 25_000 });
    expect(stage(complete(), 15_000, { completeSince: noon + 5_000 })).toEqual({ state: "passed" });
    expect(stage(complete(second - 100), 10_999)).toEqual({ state: "soaking", until: noon + 11_000 });
  });

  it("where it has soaked, also when it loses a Pod later, or somebody rolls it for something else", () => {
    expect(stage(progressing, 700_000, { soaked: true })).toEqual({ state: "passed" });
    expect(stage({ state: "failed" }, 700_000, { soaked: true })).toEqual({ state: "passed" });
    expect(stage(complete(), 15_000, { soaked: true, reverted: true })).toBeUndefined();
  });

  it("not any more where somebody took away what was written: its Pods show nothing of the change", () => {
    expect(stage(complete(second + 5), 15_000, { reverted: true })).toBeUndefined();
    expect(stage(progressing, 15_000, { reverted: true })).toMatchObject({ state: "underWay" });
  });
});

describe("what a person resumed", () => {
  it("does not count as failed, if it was rolled before that", () => {
    const over: Progress = { state: "failed" };
    expect(stage(over, 60_000, { resumed: noon + 1_000 })).toBeUndefined();
    expect(stage(over, 60_000, { resumed: noon + 999 })).toEqual(failed);
    expect(stage(progressing, 700_000, { resumed: noon + 650_000 })).toBeUndefined();
  });

  it("may go alone, if the object changed before that", () => {
    expect(stage(complete(), 60_000, { due: true, resumed: noon })).toEqual({ state: "due", resumedAt: noon });
    expect(stage(complete(), 60_000, { due: true, resumed: noon - 1 })).toEqual({ state: "due", resumedAt: undefined });
  });

  it("is not resumed by a time in the future, but for the clock of the person", () => {
    expect(stage({ state: "failed" }, 60_000, { resumed: noon + 119_000 })).toBeUndefined();
    expect(stage({ state: "failed" }, 60_000, { resumed: noon + 121_000 })).toEqual(failed);
    expect(stage(complete(), 60_000, { due: true, resumed: noon + 121_000 })).toEqual({
      state: "due",
      resumedAt: undefined,
    });
  });
});
