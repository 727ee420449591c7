import { describe, expect, it } from "vitest";
import { mistakeInTimings, nextStep, observe, standbyPollMs, defaultElectionTimings as timings } from "./lease.ts";

const wall = Date.UTC(2026, 4, 17, 12, 30, 1, 45);

describe("the timings of leader election", () => {
  it("are right by default", () => {
    expect(mistakeInTimings(timings)).toBeUndefined();
  });

  it.each([
    [{ retryPeriodMs: 0 }, "--leader-election-retry-period must be longer than 0"],
    [
      { renewDeadlineMs: 2_400 },
      "--leader-election-renew-deadline (2.4s) must be longer than 1.2 times --leader-election-retry-period (2s)",
    ],
    [
      { leaseDurationMs: 10_000 },
      "--leader-election-lease-duration (10s) must be longer than --leader-election-renew-deadline (10s)",
    ],
    [{ leaseDurationMs: Number.NaN }, "--leader-election-lease-duration (NaNs) must be longer than"],
  ])("with %o are refused by a line that names the flags", (wrong, message) => {
    expect(mistakeInTimings({ ...timings, ...wrong })).toMatch(message);
  });

  it("let a standby look often enough to hand over in under 2 s", () => {
    expect(standbyPollMs(timings, () => 0)).toBe(800);
    expect(standbyPollMs(timings, () => 1)).toBeCloseTo(1_200);
  });
});

describe("the record of a renewal", () => {
  const lease = (renewTime: string) => ({
    metadata: { uid: "u", resourceVersion: "7" },
    spec: { holderIdentity: "a", leaseDurationSeconds: 15, renewTime },
  });
  const renewed = (renewTime: string) => {
    const observation = observe(undefined, lease(renewTime), 0, timings);
    const step = nextStep(observation, { identity: "a", aim: "renew", monotonic: 1_000, wall }, timings);
    return step.do === "write" ? step.spec.renewTime : undefined;
  };

  it("has its times in microseconds, as the API's MicroTime is written", () => {
    expect(renewed("2026-05-17T12:30:00.000000Z")).toBe("2026-05-17T12:30:01.045000Z");
  });

  it("differs from the last one even by a clock that shows the same time again, else nobody would see it", () => {
    expect(renewed("2026-05-17T12:30:01.045000Z")).toBe("2026-05-17T12:30:01.045001Z");
  });

  it("rounds the lease duration up to whole seconds, so that nobody waits shorter than it", () => {
    const own = { leaseDurationMs: 1_001, renewDeadlineMs: 800, retryPeriodMs: 100 };
    const candidate = { identity: "a", aim: "take" as const, monotonic: 0, wall };
    const step = nextStep(observe(undefined, undefined, 0, own), candidate, own);
    expect(step).toMatchObject({ do: "write", spec: { leaseDurationSeconds: 2 } });
  });
});

describe("another's lease", () => {
  const held = (resourceVersion: string, leaseDurationSeconds?: number) => ({
    metadata: { uid: "u", resourceVersion },
    spec: {
      holderIdentity: "b",
      renewTime: "1999-01-01T00:00:00.000000Z",
      ...(leaseDurationSeconds && { leaseDurationSeconds }),
    },
  });
  const candidate = (monotonic: number) => ({ identity: "a", aim: "take" as const, monotonic, wall });

  it("is judged by the time since it was last seen to change, by its own duration", () => {
    const first = observe(undefined, held("1", 30), 5_000, timings);
    expect(nextStep(first, candidate(5_000), timings)).toEqual({ do: "wait", ms: 30_000 });
    const same = observe(first, held("1", 30), 9_000, timings);
    expect(nextStep(same, candidate(9_000), timings)).toEqual({ do: "wait", ms: 26_000 });
    const changed = observe(same, held("2", 30), 9_000, timings);
    expect(nextStep(changed, candidate(9_000), timings)).toEqual({ do: "wait", ms: 30_000 });
    expect(nextStep(same, candidate(35_000), timings)).toMatchObject({ do: "write", claimMs: 0 });
  });

  it("is left alone for our own duration where its record names none", () => {
    const seen = observe(undefined, held("1"), 0, timings);
    expect(nextStep(seen, candidate(0), timings)).toEqual({ do: "wait", ms: 15_000 });
  });

  it("is never taken by a leader, even if it has run out: its term is over", () => {
    const seen = observe(undefined, held("1", 15), 0, timings);
    expect(nextStep(seen, { ...candidate(60_000), aim: "renew" }, timings)).toEqual({ do: "wait", ms: 0 });
  });
});
