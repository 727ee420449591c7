import { describe, expect, it } from "vitest";
import { configMap, defaultPolicy, lookupOf, readsAll, workload } from "../../../test/support/domain/objects.ts";
import { defaultFlags, momentAt, noon, planned } from "../../../test/support/pacing/due.ts";
import type { Hold } from "../decision/hold.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload.ts";
import { planRollout, type RolloutPlan } from "../plan/plan.ts";
import type { Moment, Written } from "./moment.ts";

/** Why a plan is held, and how long after noon it ends; undefined where it is not held. */
function held(plan: RolloutPlan): readonly [Hold["reason"], number | undefined] | undefined {
  if (plan.outcome !== "held") return undefined;
  const { reason, until } = plan.hold;
  return [reason, until && until - noon];
}

const rolledAt = noon / 1000;
const hash = (plan: RolloutPlan) => ("hash" in plan ? plan.hash : "");
const wanted = hash(planned({}, momentAt(noon)));
const written = (more: Partial<Written> = {}): Written => ({
  at: noon,
  hash: "v2:old",
  streak: 1,
  reverted: 0,
  ...more,
});

describe("a roll settles", () => {
  const settling = (first: number, last: number, at: number) =>
    held(planned({}, momentAt(noon + at, { changes: { first: noon + first, last: noon + last } })));

  it("until a second after the last change", () => {
    expect(settling(0, 0, 0)).toEqual(["settling", 1_000]);
    expect(settling(0, 700, 900)).toEqual(["settling", 1_700]);
    expect(settling(0, 700, 1_700)).toBeUndefined();
  });

  it("but not longer than 10 s after the first, however many follow", () => {
    expect(settling(0, 9_900, 9_950)).toEqual(["settling", 10_000]);
    expect(settling(0, 9_900, 10_000)).toBeUndefined();
  });

  it("not at all where no change is known, or --settle is 0", () => {
    expect(held(planned({}, momentAt(noon)))).toBeUndefined();
    const changes = { first: noon, last: noon };
    expect(held(planned({}, momentAt(noon, { changes }), { settleMs: 0 }))).toBeUndefined();
  });

  it("for as long as its own annotation says", () => {
    const moment = (at: number) => momentAt(noon + at, { changes: { first: noon, last: noon } });
    expect(held(planned({ policy: { settle: "30s" } }, moment(20_000)))).toEqual(["settling", 30_000]);
    expect(held(planned({ policy: { settle: "30s" } }, moment(30_000)))).toBeUndefined();
  });

  it("and says the same while it does", () => {
    const at = (last: number) => planned({}, momentAt(noon + last, { changes: { first: noon, last: noon + last } }));
    expect(at(0).reason).toBe(at(900).reason);
  });
});

describe("a roll keeps its distance from the last one", () => {
  const later = (ms: number, known: Partial<Workload> = {}, moment: Partial<Moment> = {}) =>
    held(planned({ rolledAt, ...known }, momentAt(noon + ms, moment)));

  it.each([
    [1, 10_000],
    [2, 20_000],
    [3, 40_000],
    [5, 160_000],
    [6, 300_000],
    [99, 300_000],
  ])("after %d in a row, %d ms", (streak, waitMs) => {
    expect(later(waitMs - 1, { streak: `${streak}` })).toEqual(["interval", waitMs]);
    expect(later(waitMs, { streak: `${streak}` })).toBeUndefined();
    expect(later(waitMs - 1, {}, { written: written({ streak }) })).toEqual(["interval", waitMs]);
  });

  it.each(["", "0", "-1", "1e9", "999999999999", "x"])(
    "though somebody wrote %j for the place in the row",
    (streak) => {
      expect(later(9_999, { streak })).toEqual(["interval", 10_000]);
      expect(later(10_000, { streak })).toBeUndefined();
    },
  );

  it("and the next is one more in the row, but the first after a quiet time", () => {
    const streakAfter = (ms: number) => planned({ rolledAt, streak: "6" }, momentAt(noon + ms));
    expect(streakAfter(599_999)).toMatchObject({ outcome: "roll", streak: 7 });
    expect(streakAfter(600_000)).toMatchObject({ outcome: "roll", streak: 1 });
    expect(planned({}, momentAt(noon))).toMatchObject({ outcome: "roll", streak: 1 });
    expect(planned({ rolledAt, streak: "99" }, momentAt(noon + 300_000))).toMatchObject({ streak: 99 });
  });

  it("also the one that this process wrote and no cache has heard of", () => {
    expect(later(9_999, { rolledAt: 0 }, { written: written() })).toEqual(["interval", 10_000]);
  });

  it("also for the place in the row that the API tells, where the answer to that write was lost", () => {
    const before = { written: written({ at: noon - 60_000 }) };
    expect(later(39_999, { streak: "3" }, before)).toEqual(["interval", 40_000]);
    expect(planned({ rolledAt, streak: "3" }, momentAt(noon + 40_000, before))).toMatchObject({ streak: 4 });
    expect(later(19_999, { streak: "1" }, { written: written({ streak: 2 }) })).toEqual(["interval", 20_000]);
  });

  it("but not from one of the future, which somebody wrote into the workload", () => {
    expect(later(0, { rolledAt: rolledAt + 3_600 })).toBeUndefined();
    expect(later(0, { rolledAt: rolledAt + 5 })).toEqual(["interval", 15_000]);
  });

  it("but not with --settle=0, also where the clock of the API server is ahead", () => {
    expect(held(planned({ rolledAt: rolledAt + 300 }, momentAt(noon), { settleMs: 0 }))).toBeUndefined();
  });

  it("for as long as min-interval says, where that is longer, also with --settle=0", () => {
    const policy = { "min-interval": "10m" };
    expect(later(20_000, { policy })).toEqual(["interval", 600_000]);
    expect(later(600_000, { policy })).toBeUndefined();
    const unsettled = (known: Partial<Workload>) =>
      held(planned({ rolledAt, ...known }, momentAt(noon + 1), { settleMs: 0 }));
    expect(unsettled({ policy })).toEqual(["interval", 600_000]);
    expect(unsettled({})).toBeUndefined();
  });

  it("though its owner asks for no settling", () => {
    expect(later(1, { policy: { settle: "0" } })).toEqual(["interval", 10_000]);
  });
});

describe("a roll waits for the last one", () => {
  const progressing = { state: "progressing", step: 0, available: 0 } as const;
  const at = (ms: number, stands: number, known: Partial<Workload> = {}) =>
    held(planned({ rolledAt, progress: progressing, ...known }, momentAt(noon + ms, { standsSince: noon + stands })));

  it("while that makes progress, which it does not after 30 s without any", () => {
    expect(at(20_000, 15_000)).toEqual(["progressing", 45_000]);
    expect(at(44_999, 15_000)).toEqual(["progressing", 45_000]);
    expect(at(45_000, 15_000)).toBeUndefined();
  });

  it("but no longer than the rollout timeout, however it progresses", () => {
    expect(at(599_999, 599_999)).toEqual(["progressing", 600_000]);
    expect(at(600_000, 599_999)).toBeUndefined();
  });

  it("not where it failed, is complete, or was never rolled", () => {
    expect(at(20_000, 20_000, { progress: { state: "failed" } })).toBeUndefined();
    expect(at(20_000, 20_000, { progress: { state: "complete", since: undefined } })).toBeUndefined();
    expect(at(20_000, 20_000, { rolledAt: 0 })).toBeUndefined();
  });
});

describe("what is taken away again", () => {
  const tried = (reverted: number, ms: number, flags = {}) =>
    planned(
      { rolledAt, editedBy: "helm" },
      momentAt(noon + ms, { written: written({ hash: wanted, streak: reverted + 1, reverted }) }),
      flags,
    );

  it("is written again later and later, and who takes it is told from the first time on", () => {
    expect(held(tried(0, 9_999))).toEqual(["reverted", 10_000]);
    expect(tried(0, 9_999)).toMatchObject({
      hold: { warning: true, message: /^somebody, perhaps field manager "helm", took away/ },
    });
    expect(held(tried(0, 10_000))).toBeUndefined();
    expect(held(tried(3, 79_999))).toEqual(["reverted", 80_000]);
    expect(held(tried(8, 300_000))).toBeUndefined();
  });

  it("is not written an eleventh time, however long ago the tenth was", () => {
    expect(held(tried(9, 1))).toEqual(["reverted", undefined]);
    expect(held(tried(9, 86_400_000))).toEqual(["reverted", undefined]);
    expect(held(tried(9, 86_400_000, { settleMs: 0 }))).toEqual(["reverted", undefined]);
  });

  it("is written again at once the first time where --settle is 0", () => {
    expect(held(tried(0, 1, { settleMs: 0 }))).toBeUndefined();
    expect(held(tried(1, 1, { settleMs: 0 }))).toEqual(["reverted", 10_000]);
  });

  it("does not hold another hash", () => {
    const moment = momentAt(noon + 600_000, { written: written({ reverted: 9 }) });
    expect(held(planned({ rolledAt }, moment))).toBeUndefined();
  });
});

describe("what replaces no running Pods is not held", () => {
  const policy = { ...defaultPolicy, pacing: defaultFlags };
  const batch = () => {
    throw new Error("asked for its wave");
  };
  const pod = readsAll("ConfigMap", "web");
  const web = configMap("web", { a: "1" });
  const moment = momentAt(noon, { changes: { first: noon, last: noon }, written: written(), batch });

  it("such as a scheduling hold that opens", () => {
    const schedulingHeld = workload({ pod: { ...pod, schedulerName: invalidScheduler } });
    const plan = planRollout({ ...schedulingHeld, rolledAt }, lookupOf(web), policy, undefined, moment);
    expect(plan).toMatchObject({ outcome: "firstHash" });
    expect(plan).not.toHaveProperty("streak");
  });

  it("such as a scheduling hold that is cleaned up", () => {
    const optedOut = { "wave.pusher.com/update-on-config-change": "false" };
    const schedulingHeld = workload({ pod: { ...pod, schedulerName: invalidScheduler }, annotations: optedOut });
    expect(planRollout(schedulingHeld, lookupOf(web), policy, undefined, moment).outcome).toBe("cleanUp");
  });

  it("and a first hash while the first Pods are being made waits for no other workload", () => {
    const first = (state: Workload["progress"]) => () =>
      planRollout(
        { ...workload({ pod }), progress: state },
        lookupOf(web),
        policy,
        undefined,
        momentAt(noon, { batch }),
      );
    expect(first({ state: "progressing", step: 0, available: 0 })().outcome).toBe("firstHash");
    // The annotation that opts it in raised its generation, of which its status does not know yet.
    expect(first({ state: "progressing", step: 3, available: 3 })).toThrow("asked for its wave");
    expect(first({ state: "complete", since: undefined })).toThrow("asked for its wave");
  });

  it("and a roll that replaces no Pod waits for no other workload", () => {
    const roll = (progress: Workload["progress"]) => () => planned({ progress }, momentAt(noon, { batch }));
    expect(roll({ state: "idle" })().outcome).toBe("roll");
    expect(roll({ state: "complete", since: undefined })).toThrow("asked for its wave");
  });
});
