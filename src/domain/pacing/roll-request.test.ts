import { describe, expect, it } from "vitest";
import { momentAt, noon, planned } from "../../../test/support/pacing/due.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { RolloutPlan } from "../outcomes/outcomes.ts";
import { parseWindow } from "../syntax/window.ts";
import type { Moment } from "./moment.ts";

const time = (ms: number) => new Date(noon + ms).toISOString().replace(".000Z", "Z");
const requested = (ms = 0, by = "alice@example.com") => ({ "roll-requested": `${time(ms)} ${by}` });
const heldBy = (plan: RolloutPlan) => (plan.outcome === "held" ? plan.hold.reason : undefined);

/** Returns the hold that remains of a due rollout, at a time after noon, if a person requested it at noon. */
function holdAt(ms: number, known: Partial<Workload> = {}, moment: Partial<Moment> = {}, request = requested()) {
  return heldBy(planned({ ...known, policy: { ...known.policy, ...request } }, momentAt(noon + ms, moment)));
}

describe("a requested rollout", () => {
  const closed = "Mon 00:00-00:01";

  it("does not wait for its window", () => {
    expect(parseWindow(closed)).toBeDefined();
    expect(heldBy(planned({ policy: { window: closed } }, momentAt(noon)))).toBe("window");
    expect(holdAt(0, { policy: { window: closed } })).toBeUndefined();
  });

  it("does not wait for changes to settle, for the interval, or for the previous rollout", () => {
    const changes = { first: noon, last: noon };
    const recent = { rolledAt: noon / 1000 - 5, consecutiveRollouts: "6" };
    const progressing = {
      rolledAt: noon / 1000 - 15,
      progress: { state: "progressing", step: 0, available: 0 },
    } as const;
    expect(heldBy(planned({}, momentAt(noon, { changes })))).toBe("settling");
    expect(heldBy(planned(recent, momentAt(noon)))).toBe("interval");
    expect(heldBy(planned(progressing, momentAt(noon)))).toBe("progressing");
    expect(holdAt(0, {}, { changes })).toBeUndefined();
    expect(holdAt(0, recent)).toBeUndefined();
    expect(holdAt(0, progressing)).toBeUndefined();
  });

  it.each([
    ["hold", { hold: "true" }],
    ["approval", { mode: "approve" }],
    ["observed", { mode: "observe" }],
    ["invalid", { settle: "soon" }],
  ])("does not go past %s", (reason, policy) => {
    expect(holdAt(0, { policy })).toBe(reason);
  });

  it("does not wait for other workloads, but stays halted after a failure", () => {
    const of = (reason: "batch" | "halted") =>
      planned({ policy: requested() }, momentAt(noon), {}, { reason, message: "", until: undefined, warning: false })
        .outcome;
    expect([of("batch"), of("halted")]).toEqual(["roll", "held"]);
  });

  it("has the name of the person in its reason, or the command if the name is unknown", () => {
    const reasonOf = (by: string) => planned({ policy: requested(0, by) }, momentAt(noon)).reason;
    expect(reasonOf("alice")).toMatch(/; requested by "alice"$/);
    expect(reasonOf("")).toMatch(/; requested with wave roll$/);
    expect(planned({}, momentAt(noon)).reason).not.toContain("requested");
  });

  it("is used up by the next rollout, also if only this process knows of it", () => {
    const window = { policy: { window: closed } };
    expect(holdAt(60_000, { ...window, rolledAt: noon / 1000 - 60 })).toBeUndefined();
    expect(holdAt(60_000, { ...window, rolledAt: noon / 1000 })).toBe("window");
    const lastWrite = { at: noon + 500, hash: "v2:old", consecutiveRollouts: 1, timesReverted: 0 };
    expect(holdAt(60_000, window, { lastWrite })).toBe("window");
  });

  it("applies for ten minutes, and not if its time is in the future", () => {
    const window = { policy: { window: closed } };
    expect(holdAt(599_999, window)).toBeUndefined();
    expect(holdAt(600_000, window)).toBe("window");
    expect(holdAt(0, window, {}, requested(60_000))).toBeUndefined();
    expect(holdAt(0, window, {}, requested(61_000))).toBe("window");
  });

  it.each([
    ["is a minute ahead", requested(60_000), undefined],
    ["is further ahead", requested(61_000), noon + 1_000],
    ["resumes", { resumed: time(61_000) }, noon + 1_000],
    ["is later than another", { ...requested(62_000), resumed: time(61_000) }, noon + 1_000],
    ["has no time", { resumed: "now" }, undefined],
  ])("is planned again when its time is no longer too far ahead: %s", (_, policy, checkAt) => {
    expect(planned({ policy }, momentAt(noon)).checkAt).toBe(checkAt);
  });

  it.each(["now", "2026-01-01 alice", "", "2026-99-01T12:00:00Z alice"])("has no effect with the value %j", (text) => {
    expect(holdAt(0, { policy: { window: closed } }, {}, { "roll-requested": text })).toBe("window");
  });
});
