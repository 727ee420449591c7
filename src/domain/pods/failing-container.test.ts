import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { earlierPodsFail, failingContainer } from "./new-pods.ts";
import type { ObservedPod } from "./observed-pod.ts";

const minute = 60_000;
const rolledAt = 1_000 * minute;
const rollout = { hash: "new", rolledAt, now: rolledAt + 2 * minute };

function pod(fields: Partial<ObservedPod> & { readonly count: number }): ObservedPod {
  const { count, ...rest } = fields;
  return {
    name: "web-0",
    uid: "1",
    hash: "new",
    createdAt: rolledAt + 1_000,
    ending: false,
    ready: true,
    notReadyReason: undefined,
    start: { state: "started" },
    exit: undefined,
    restarts: { container: "app", count },
    liveObjects: [undefined],
    reads: [],
    volumesAt: 0,
    ...rest,
  };
}

const old = (count: number, ageMs: number) => pod({ count, hash: "old", name: "old", createdAt: rollout.now - ageMs });

describe("a rollout fails by restarts", () => {
  it("after three restarts of one container, whatever the readiness of the Pod", () => {
    expect(failingContainer([pod({ count: 2 })], rollout)).toBeUndefined();
    for (const ready of [true, false])
      expect(failingContainer([pod({ count: 0 }), pod({ count: 3, ready })], rollout)).toEqual({
        pod: "web-0",
        container: "app",
        restarts: 3,
      });
  });

  it("not if Pods before the rollout restart as often, also while they end", () => {
    expect(failingContainer([pod({ count: 4 }), old(3, 20 * minute)], rollout)).toBeUndefined();
    expect(failingContainer([pod({ count: 4 }), { ...old(3, minute), ending: true }], rollout)).toBeUndefined();
    expect(earlierPodsFail([old(3, minute)], rollout)).toBe(true);
  });

  it("also if Pods before the rollout restarted sometimes", () => {
    expect(failingContainer([pod({ count: 3 }), old(3, 31 * minute), old(2, minute)], rollout)).toBeDefined();
    expect(earlierPodsFail([old(3, 31 * minute), pod({ count: 9 })], rollout)).toBe(false);
  });

  it("not by Pods with the same hash from before the rollout", () => {
    expect(failingContainer([pod({ count: 3, createdAt: rolledAt - 1_000 })], rollout)).toBeUndefined();
  });

  it("not by restarts over days", () => {
    const now = rolledAt + 24 * 60 * minute;
    expect(failingContainer([pod({ count: 3 })], { ...rollout, now })).toBeUndefined();
    expect(failingContainer([pod({ count: 288 })], { ...rollout, now })).toBeDefined();
  });

  it("only if a new container restarted three times and no earlier Pod restarts as often", () => {
    const any = fc.record({
      isNew: fc.boolean(),
      count: fc.nat(6),
      ending: fc.boolean(),
      ready: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(any, { maxLength: 6 }), (pods) => {
        const observed = pods.map(({ isNew, ...rest }) =>
          pod({ ...rest, ...(isNew ? {} : { hash: "old", createdAt: rolledAt - minute }) }),
        );
        const often = pods.filter(({ count }) => count >= 3);
        const mustFail = often.some(({ isNew, ending }) => isNew && !ending) && often.every(({ isNew }) => isNew);
        expect(failingContainer(observed, rollout) !== undefined).toBe(mustFail);
      }),
    );
  });
});
