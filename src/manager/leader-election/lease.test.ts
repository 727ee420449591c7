import { describe, expect, it } from "vitest";
import { defaultLeaseDurationMs, electionTimings, nextLeaseStep, observeLease, standbyPollMs } from "./lease.ts";

const timings = electionTimings(defaultLeaseDurationMs);
const wall = Date.UTC(2026, 4, 17, 12, 30, 1, 45);

describe("the timings of leader election", () => {
  it("are those of client-go by default", () => {
    expect(timings).toEqual({ leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 });
  });

  it.each([1_000, 7_500, 15_000, 600_000])("of %d ms satisfy the conditions of client-go", (leaseDurationMs) => {
    const { renewDeadlineMs, retryPeriodMs } = electionTimings(leaseDurationMs);
    expect(renewDeadlineMs).toBeLessThan(leaseDurationMs);
    expect(renewDeadlineMs).toBeGreaterThan(1.2 * retryPeriodMs);
  });

  it("let a standby read often enough for a handover in less than 2 s", () => {
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
    const observation = observeLease(undefined, lease(renewTime), 0, timings);
    const step = nextLeaseStep(observation, { identity: "a", aim: "renew", monotonic: 1_000, wall }, timings);
    return step.do === "write" ? step.spec.renewTime : undefined;
  };

  it("has times in the format of MicroTime", () => {
    expect(renewed("2026-05-17T12:30:00.000000Z")).toBe("2026-05-17T12:30:01.045000Z");
  });

  it("differs from the previous one even if the clock shows the same time, so that other replicas see it", () => {
    expect(renewed("2026-05-17T12:30:01.045000Z")).toBe("2026-05-17T12:30:01.045001Z");
  });

  it("rounds the lease duration up to whole seconds, so that no replica waits for less", () => {
    const own = { leaseDurationMs: 1_001, renewDeadlineMs: 800, retryPeriodMs: 100 };
    const candidate = { identity: "a", aim: "acquire" as const, monotonic: 0, wall };
    const step = nextLeaseStep(observeLease(undefined, undefined, 0, own), candidate, own);
    expect(step).toMatchObject({ do: "write", spec: { leaseDurationSeconds: 2 } });
  });
});

describe("the Lease of another replica", () => {
  const held = (resourceVersion: string, leaseDurationSeconds?: number) => ({
    metadata: { uid: "u", resourceVersion },
    spec: {
      holderIdentity: "b",
      renewTime: "1999-01-01T00:00:00.000000Z",
      ...(leaseDurationSeconds && { leaseDurationSeconds }),
    },
  });
  const candidate = (monotonic: number) => ({ identity: "a", aim: "acquire" as const, monotonic, wall });

  it("expires its own duration after its last observed change", () => {
    const first = observeLease(undefined, held("1", 30), 5_000, timings);
    expect(nextLeaseStep(first, candidate(5_000), timings)).toEqual({ do: "wait", ms: 30_000 });
    const same = observeLease(first, held("1", 30), 9_000, timings);
    expect(nextLeaseStep(same, candidate(9_000), timings)).toEqual({ do: "wait", ms: 26_000 });
    const changed = observeLease(same, held("2", 30), 9_000, timings);
    expect(nextLeaseStep(changed, candidate(9_000), timings)).toEqual({ do: "wait", ms: 30_000 });
    expect(nextLeaseStep(same, candidate(35_000), timings)).toMatchObject({ do: "write", claimMs: 0 });
  });

  it("expires after the duration of this replica if its record has none", () => {
    const seen = observeLease(undefined, held("1"), 0, timings);
    expect(nextLeaseStep(seen, candidate(0), timings)).toEqual({ do: "wait", ms: 15_000 });
  });

  it("is never acquired by a renewal, even if it has expired", () => {
    const seen = observeLease(undefined, held("1", 15), 0, timings);
    expect(nextLeaseStep(seen, { ...candidate(60_000), aim: "renew" }, timings)).toEqual({ do: "wait", ms: 0 });
  });
});
