import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { backoffMs, resync } from "./timers.ts";

function start(periodMs: number, keys: string[]) {
  const clock = new FakeClock();
  const stop = new AbortController();
  const enqueued: string[] = [];
  const done = resync({ periodMs, keys: () => keys, enqueue: (key) => enqueued.push(key), clock, signal: stop.signal });
  const end = () => {
    stop.abort();
    return done;
  };
  return { clock, enqueued, end };
}

describe("the periodic resync of all workloads", () => {
  it("processes each workload once a period, evenly spread over the period", async () => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `Deployment/default/${index}`);
    const { clock, enqueued, end } = start(10_000, keys);
    await clock.advance(999);
    expect(enqueued).toHaveLength(0);
    for (let second = 1; second <= 10; second++) {
      await clock.advance(second === 1 ? 1 : 1_000);
      expect(enqueued).toHaveLength(second * 100);
    }
    expect(enqueued).toEqual(keys);
    await clock.advance(10_000);
    expect(enqueued).toEqual([...keys, ...keys]);
    await end();
  });

  it("processes workloads that were added later, when there were few or none", async () => {
    const keys: string[] = [];
    const { clock, enqueued, end } = start(60_000, keys);
    await clock.advance(60_000);
    keys.push("a", "b");
    await clock.advance(60_000);
    expect(enqueued).toEqual([]);
    await clock.advance(60_000);
    expect(enqueued).toEqual(["a", "b"]);
    await end();
  });

  it("is off with a period of 0, and leaves no timer behind when it ends", async () => {
    const off = start(0, ["a"]);
    await off.clock.advance(1_000_000);
    expect(off.enqueued).toEqual([]);
    await off.end();
    const on = start(1_000, ["a"]);
    await on.clock.advance(1);
    expect(on.clock.pending).toBe(1);
    await on.end();
    expect(on.clock.pending).toBe(0);
  });
});

describe("backoffMs", () => {
  it("doubles from the base up to the maximum", () => {
    const random = () => 1 - Number.EPSILON;
    const waits = [0, 1, 2, 3, 4, 5000].map((attempt) =>
      Math.round(backoffMs(attempt, { baseMs: 200, maxMs: 1000, random })),
    );
    expect(waits).toEqual([200, 400, 800, 1000, 1000, 1000]);
  });

  it("stays between a half and the whole for every random number", () => {
    fc.assert(
      fc.property(fc.nat(5000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, chance) => {
        const whole = Math.min(60_000, 100 * 2 ** attempt);
        const ms = backoffMs(attempt, { baseMs: 100, maxMs: 60_000, random: () => chance });
        expect(ms).toBeGreaterThanOrEqual(whole / 2);
        expect(ms).toBeLessThanOrEqual(whole);
      }),
    );
  });
});
