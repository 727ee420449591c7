import { describe, expect, it } from "vitest";
import { decide } from "../../../test/support/domain/decisions.ts";
import { configMap, defaultPolicy, lookupOf, readsAll, workload } from "../../../test/support/domain/objects.ts";
import { defaultFlags, momentAt, noon, outdated, planned } from "../../../test/support/pacing/due.ts";
import { invalidScheduler } from "../model/scheduling-hold.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { Hold, RolloutPlan } from "../outcomes/outcomes.ts";
import type { LastWrite, Moment } from "./moment.ts";

/** Returns the hold of a plan, and how long after noon it ends; undefined if it is not held. */
function held(plan: RolloutPlan): readonly [Hold["reason"], number | undefined] | undefined {
  if (plan.outcome !== "held") return undefined;
  const { reason, until } = plan.hold;
  return [reason, until && until - noon];
}

const rolledAt = noon / 1000;
const hash = (plan: RolloutPlan) => ("hash" in plan ? plan.hash : "");
const wanted = hash(planned({}, momentAt(noon)));
const written = (more: Partial<LastWrite> = {}): LastWrite => ({
  at: noon,
  hash: "v2:old",
  consecutiveRollouts: 1,
  timesReverted: 0,
  ...more,
});

describe("a rollout waits until changes settle", () => {
  const settling = (first: number, last: number, at: number) =>
    held(planned({}, momentAt(noon + at, { changes: { first: noon + first, last: noon + last } })));

  it("until a second after the last change", () => {
    expect(settling(0, 0, 0)).toEqual(["settling", 1_000]);
    expect(settling(0, 700, 900)).toEqual(["settling", 1_700]);
    expect(settling(0, 700, 1_700)).toBeUndefined();
  });

  it("but at most 10 s after the first change, however many follow", () => {
    expect(settling(0, 9_900, 9_950)).toEqual(["settling", 10_000]);
    expect(settling(0, 9_900, 10_000)).toBeUndefined();
  });

  it("not at all if no change is known or --settle is 0", () => {
    expect(held(planned({}, momentAt(noon)))).toBeUndefined();
    const changes = { first: noon, last: noon };
    expect(held(planned({}, momentAt(noon, { changes }), { settleMs: 0 }))).toBeUndefined();
  });

  it("for the time of its own annotation", () => {
    const moment = (at: number) => momentAt(noon + at, { changes: { first: noon, last: noon } });
    expect(held(planned({ policy: { settle: "30s" } }, moment(20_000)))).toEqual(["settling", 30_000]);
    expect(held(planned({ policy: { settle: "30s" } }, moment(30_000)))).toBeUndefined();
  });

  it("with the same text during the wait", () => {
    const at = (last: number) => planned({}, momentAt(noon + last, { changes: { first: noon, last: noon + last } }));
    expect(at(0)).toMatchObject({ hold: { message: expect.any(String) } });
    const messageOf = (plan: RolloutPlan) => (plan.outcome === "held" ? plan.hold.message : undefined);
    expect(messageOf(at(0))).toBe(messageOf(at(900)));
  });
});

describe("a rollout keeps a minimum time after the previous one", () => {
  const later = (ms: number, known: Partial<Workload> = {}, moment: Partial<Moment> = {}) =>
    held(planned({ rolledAt, ...known }, momentAt(noon + ms, moment)));

  it.each([
    [1, 10_000],
    [2, 20_000],
    [3, 40_000],
    [5, 160_000],
    [6, 320_000],
    [9, 2_560_000],
    [10, 3_600_000],
    [99, 3_600_000],
  ])("after %d consecutive rollouts, %d ms", (count, waitMs) => {
    expect(later(waitMs - 1, { consecutiveRollouts: `${count}` })).toEqual(["interval", waitMs]);
    expect(later(waitMs, { consecutiveRollouts: `${count}` })).toBeUndefined();
    expect(later(waitMs - 1, {}, { lastWrite: written({ consecutiveRollouts: count }) })).toEqual(["interval", waitMs]);
  });

  it.each(["", "0", "-1", "1e9", "999999999999", "x"])(
    "although another client wrote %j as the number",
    (consecutiveRollouts) => {
      expect(later(9_999, { consecutiveRollouts })).toEqual(["interval", 10_000]);
      expect(later(10_000, { consecutiveRollouts })).toBeUndefined();
    },
  );

  it("and the next rollout has the next number, but 1 after a quiet period", () => {
    const rolledAfter = (count: number, ms: number) =>
      planned({ rolledAt, consecutiveRollouts: `${count}` }, momentAt(noon + ms));
    for (const [count, quietMs] of [
      [1, 600_000],
      [5, 600_000],
      [6, 640_000],
      [10, 7_200_000],
    ] as const) {
      expect(rolledAfter(count, quietMs - 1)).toMatchObject({ outcome: "roll", consecutiveRollouts: count + 1 });
      expect(rolledAfter(count, quietMs)).toMatchObject({ outcome: "roll", consecutiveRollouts: 1 });
    }
    expect(planned({}, momentAt(noon))).toMatchObject({ outcome: "roll", consecutiveRollouts: 1 });
    expect(planned({ rolledAt, consecutiveRollouts: "99" }, momentAt(noon + 3_600_000))).toMatchObject({
      consecutiveRollouts: 99,
    });
  });

  it("and reports from the seventh on what keeps changing, with its keys and its editor", () => {
    const edited = (count: number, settleMs = 1_000) =>
      planned({ rolledAt, consecutiveRollouts: `${count}` }, momentAt(noon + 9_000), { settleMs }).warnings;
    expect(edited(6)).toEqual([]);
    expect(edited(7, 0)).toEqual([]);
    expect(edited(7)).toMatchObject([
      {
        reason: "ConfigurationFlaps",
        message: expect.stringMatching(/^Configuration keeps changing: ConfigMap "web" changed\. /),
      },
    ]);
  });

  it("also after a write of this process that no cache shows yet", () => {
    expect(later(9_999, { rolledAt: 0 }, { lastWrite: written() })).toEqual(["interval", 10_000]);
  });

  it("by the stored number if the response of that write was lost", () => {
    const before = { lastWrite: written({ at: noon - 60_000 }) };
    expect(later(39_999, { consecutiveRollouts: "3" }, before)).toEqual(["interval", 40_000]);
    expect(planned({ rolledAt, consecutiveRollouts: "3" }, momentAt(noon + 40_000, before))).toMatchObject({
      consecutiveRollouts: 4,
    });
    expect(later(19_999, { consecutiveRollouts: "1" }, { lastWrite: written({ consecutiveRollouts: 2 }) })).toEqual([
      "interval",
      20_000,
    ]);
  });

  it("but ignores a forged rollout in the future", () => {
    expect(later(0, { rolledAt: rolledAt + 3_600 })).toBeUndefined();
    expect(later(0, { rolledAt: rolledAt + 5 })).toEqual(["interval", 15_000]);
  });

  it("but not with --settle=0, even if the clock of the API server is ahead", () => {
    expect(held(planned({ rolledAt: rolledAt + 300 }, momentAt(noon), { settleMs: 0 }))).toBeUndefined();
  });

  it("by min-interval if that is longer, also with --settle=0", () => {
    const policy = { "min-interval": "10m" };
    expect(later(20_000, { policy })).toEqual(["interval", 600_000]);
    expect(later(600_000, { policy })).toBeUndefined();
    const unsettled = (known: Partial<Workload>) =>
      held(planned({ rolledAt, ...known }, momentAt(noon + 1), { settleMs: 0 }));
    expect(unsettled({ policy })).toEqual(["interval", 600_000]);
    expect(unsettled({})).toBeUndefined();
  });

  it("but not if the previous rollout failed, so that its fix starts at once", () => {
    const policy = { "min-interval": "10m" };
    const progressing = { state: "progressing", step: 0, available: 0 } as const;
    const since = { progressSince: noon - 60_000 };
    const heldAfter = (known: Partial<Workload>, moment: Partial<Moment> = since) =>
      later(240_000, { consecutiveRollouts: "6", policy, ...known }, moment);
    expect(heldAfter({ progress: { state: "failed" } })).toBeUndefined();
    expect(
      heldAfter({}, { newPods: { state: "restarts", pod: "web-0", container: "app", restarts: 3 } }),
    ).toBeUndefined();
    expect(heldAfter({ progress: progressing })).toEqual(["interval", 600_000]);
    expect(heldAfter({ progress: { state: "failed" }, templateEditedAt: rolledAt + 1 })).toEqual(["interval", 600_000]);
    const flags = { rolloutTimeoutMs: 60_000 };
    const slow = planned({ rolledAt, progress: progressing, policy }, momentAt(noon + 60_000, since), flags);
    expect(held(slow)).toBeUndefined();
  });

  it("even if the workload sets settle to 0", () => {
    expect(later(1, { policy: { settle: "0" } })).toEqual(["interval", 10_000]);
  });
});

describe("a rollout waits for the previous one", () => {
  const progressing = { state: "progressing", step: 0, available: 0 } as const;
  const at = (ms: number, progressMs: number, known: Partial<Workload> = {}) =>
    held(
      planned({ rolledAt, progress: progressing, ...known }, momentAt(noon + ms, { progressSince: noon + progressMs })),
    );

  it("until that makes no progress for 30 s", () => {
    expect(at(20_000, 15_000)).toEqual(["progressing", 45_000]);
    expect(at(44_999, 15_000)).toEqual(["progressing", 45_000]);
    expect(at(45_000, 15_000)).toBeUndefined();
  });

  it("but at most for the rollout timeout, whatever its progress", () => {
    expect(at(599_999, 599_999)).toEqual(["progressing", 600_000]);
    expect(at(600_000, 599_999)).toBeUndefined();
  });

  it("but not if that failed, is complete, or never existed", () => {
    expect(at(20_000, 20_000, { progress: { state: "failed" } })).toBeUndefined();
    expect(at(20_000, 20_000, { progress: { state: "complete", since: undefined } })).toBeUndefined();
    expect(at(20_000, 20_000, { rolledAt: 0 })).toBeUndefined();
  });
});

describe("a hash that another client removes", () => {
  const tried = (timesReverted: number, ms: number, flags = {}) =>
    planned(
      { rolledAt, editedBy: "helm" },
      momentAt(noon + ms, {
        lastWrite: written({ hash: wanted, consecutiveRollouts: timesReverted + 1, timesReverted }),
      }),
      flags,
    );

  it("is written again after longer and longer waits, and the message names the possible client", () => {
    expect(held(tried(0, 9_999))).toEqual(["reverted", 10_000]);
    expect(tried(0, 9_999)).toMatchObject({
      hold: { warning: true, message: /^Hash removed, possibly by field manager "helm"\. Next write 10s/ },
    });
    expect(held(tried(0, 10_000))).toBeUndefined();
    expect(held(tried(3, 79_999))).toEqual(["reverted", 80_000]);
    expect(held(tried(8, 2_560_000))).toBeUndefined();
  });

  it("is not written an eleventh time, however long ago the tenth write was", () => {
    expect(held(tried(9, 1))).toEqual(["reverted", undefined]);
    expect(held(tried(9, 86_400_000))).toEqual(["reverted", undefined]);
    expect(held(tried(9, 86_400_000, { settleMs: 0 }))).toEqual(["reverted", undefined]);
  });

  it("is written again at once the first time if --settle is 0", () => {
    expect(held(tried(0, 1, { settleMs: 0 }))).toBeUndefined();
    expect(held(tried(1, 1, { settleMs: 0 }))).toEqual(["reverted", 10_000]);
  });

  it("does not hold a hash that is still there, beside other content that the Pods read", () => {
    const moment = momentAt(noon + 600_000, { lastWrite: written({ hash: wanted, timesReverted: 9 }) });
    const recordedConfig = `${wanted} ${outdated().recordedHash}`;
    expect(planned({ rolledAt, recordedHash: wanted, recordedConfig }, moment).outcome).toBe("roll");
  });

  it("does not hold another hash", () => {
    const moment = momentAt(noon + 600_000, { lastWrite: written({ timesReverted: 9 }) });
    expect(held(planned({ rolledAt }, moment))).toBeUndefined();
  });
});

describe("a write that replaces no running Pods is not held", () => {
  const policy = { ...defaultPolicy, pacing: defaultFlags };
  const pod = readsAll("ConfigMap", "web");
  const web = configMap("web", { a: "1" });
  const moment = momentAt(noon, { changes: { first: noon, last: noon }, lastWrite: written() });

  it("such as the end of a scheduling hold", () => {
    const schedulingHeld = workload({ pod: { ...pod, schedulerName: invalidScheduler } });
    const plan = decide({ workload: { ...schedulingHeld, rolledAt }, lookup: lookupOf(web), policy, moment });
    expect(plan).toMatchObject({ outcome: "firstHash" });
    expect(plan).not.toHaveProperty("consecutiveRollouts");
  });

  it("such as the cleanup of a scheduling hold", () => {
    const optedOut = { "wave.pusher.com/update-on-config-change": "false" };
    const schedulingHeld = workload({ pod: { ...pod, schedulerName: invalidScheduler }, annotations: optedOut });
    expect(decide({ workload: schedulingHeld, lookup: lookupOf(web), policy, moment }).outcome).toBe("cleanUp");
  });

  it("and a first hash while the first Pods are being created does not wait for batches", () => {
    const first = (progress: Workload["progress"]) =>
      decide({ workload: { ...workload({ pod }), progress }, lookup: lookupOf(web), policy, moment: momentAt(noon) });
    expect(first({ state: "progressing", step: 0, available: 0 })).not.toHaveProperty("batched");
    // The annotation that opts in the workload raised its generation, which its status does not contain yet.
    expect(first({ state: "progressing", step: 3, available: 3 })).toHaveProperty("batched");
    expect(first({ state: "complete", since: undefined })).toHaveProperty("batched");
  });

  it("and a rollout that replaces no Pod does not wait for batches", () => {
    const roll = (progress: Workload["progress"]) => planned({ progress }, momentAt(noon));
    expect(roll({ state: "idle" })).not.toHaveProperty("batched");
    expect(roll({ state: "complete", since: undefined })).toHaveProperty("batched");
  });
});
