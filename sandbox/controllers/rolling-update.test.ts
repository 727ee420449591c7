import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundsOf, nextReplicas, type Replicas } from "./rolling-update.ts";

const strategy = fc.record({
  rollingUpdate: fc.record({
    maxSurge: fc.oneof(
      fc.nat(5),
      fc.nat(100).map((percent) => `${percent}%`),
    ),
    maxUnavailable: fc.oneof(
      fc.nat(5),
      fc.nat(100).map((percent) => `${percent}%`),
    ),
  }),
});

/** Some of the old Pods may be broken. */
const old = fc
  .tuple(fc.nat(6), fc.nat(6))
  .map(([desired, broken]) => ({ desired, available: Math.max(0, desired - broken) }));

describe("a rolling update", () => {
  it("reads percentages as Kubernetes rounds them", () => {
    const quarter = { rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } };
    expect(boundsOf(quarter, 10)).toEqual({ maxSurge: 3, maxUnavailable: 2 });
    expect(boundsOf(quarter, 1)).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    expect(boundsOf({ rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }, 1)).toEqual({
      maxSurge: 0,
      maxUnavailable: 1,
    });
  });

  it("ends with only new replicas, never above the surge and never below the required available Pods", () => {
    const check = fc.property(fc.nat(12), strategy, fc.array(old, { maxLength: 3 }), (replicas, given, olds) => {
      const bounds = boundsOf(given, replicas);
      let all: Replicas[] = olds.map((item, index) => ({ name: `old-${index}`, ...item }));
      const before = sum(all.map(({ desired }) => desired));
      let current: Replicas = { name: "new", desired: 0, available: 0 };
      const isDone = () => current.available === replicas && all.every(({ desired }) => desired === 0);
      for (let step = 0; step < 100 && !isDone(); step++) {
        const next = nextReplicas(replicas, bounds, current, all);
        const to = (item: Replicas): Replicas => {
          const desired = next.get(item.name) ?? 0;
          return { ...item, desired, available: Math.min(desired, item.available) };
        };
        const available = sum([current, ...all].map((item) => item.available));
        current = to(current);
        all = all.map(to);
        const total = sum([current, ...all].map(({ desired }) => desired));
        expect(total).toBeLessThanOrEqual(Math.max(before, replicas + bounds.maxSurge));
        const left = sum([current, ...all].map((item) => item.available));
        expect(left).toBeGreaterThanOrEqual(Math.min(available, replicas - bounds.maxUnavailable));
        current = { ...current, available: current.desired };
      }
      expect(isDone()).toBe(true);
    });
    fc.assert(check);
  });
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
