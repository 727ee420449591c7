import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "./fake-clock.ts";
import { TokenBucket } from "./token-bucket.ts";

describe("TokenBucket", () => {
  it("gives the burst at once and then one slot after the other", () => {
    const bucket = new TokenBucket({ clock: new FakeClock(), perSecond: 10, burst: 3 });
    expect(Array.from({ length: 6 }, () => bucket.reserve())).toEqual([0, 0, 0, 100, 200, 300]);
  });

  it("fills up again as time goes by, but never beyond the burst", async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ clock, perSecond: 10, burst: 2 });
    for (let i = 0; i < 4; i++) bucket.reserve();
    await clock.advance(300);
    expect([bucket.reserve(), bucket.reserve()]).toEqual([0, 100]);
    await clock.advance(3_600_000);
    expect([bucket.reserve(), bucket.reserve(), bucket.reserve()]).toEqual([0, 0, 100]);
  });

  it("never makes anybody wait when it is turned off", () => {
    for (const perSecond of [0, Number.POSITIVE_INFINITY]) {
      const bucket = new TokenBucket({ clock: new FakeClock(), perSecond, burst: 1 });
      expect(Array.from({ length: 5 }, () => bucket.reserve())).toEqual([0, 0, 0, 0, 0]);
    }
  });

  it("never gives out more than the burst and the rate allow in any span of time", async () => {
    const step = fc.oneof(fc.constant("reserve" as const), fc.integer({ min: 1, max: 500 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60, size: "max" }),
        fc.integer({ min: 1, max: 5 }),
        async (steps, burst) => {
          const clock = new FakeClock();
          const bucket = new TokenBucket({ clock, perSecond: 20, burst });
          const slots: number[] = [];
          for (const each of steps) {
            if (each === "reserve") slots.push(clock.monotonic() + bucket.reserve());
            else await clock.advance(each);
          }
          expect(slots).toEqual(slots.toSorted((a, b) => a - b));
          slots.forEach((from, i) => {
            slots.slice(i).forEach((until, further) => {
              expect(further + 1).toBeLessThanOrEqual(burst + (until - from) / 50 + 1e-6);
            });
          });
        },
      ),
    );
  });
});
