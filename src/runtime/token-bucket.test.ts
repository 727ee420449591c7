import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { TokenBucket } from "./token-bucket.ts";

/** How many tokens can be taken now. */
function takeAll(bucket: TokenBucket): number {
  let taken = 0;
  while (taken < 1_000 && bucket.take()) taken++;
  return taken;
}

describe("TokenBucket", () => {
  it("provides the burst at once and then one token after the other, without reservations", async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ clock, perSecond: 10, burst: 3 });
    expect(takeAll(bucket)).toBe(3);
    for (let asked = 0; asked < 100; asked++) expect(bucket.take()).toBe(false);
    expect(bucket.waitMs).toBe(100);
    await clock.advance(100);
    expect(takeAll(bucket)).toBe(1);
  });

  it("refills over time, but never beyond the burst", async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ clock, perSecond: 10, burst: 2 });
    takeAll(bucket);
    await clock.advance(150);
    expect([takeAll(bucket), bucket.waitMs]).toEqual([1, 50]);
    await clock.advance(3_600_000);
    expect(takeAll(bucket)).toBe(2);
  });

  it("has a returned token again", () => {
    const bucket = new TokenBucket({ clock: new FakeClock(), perSecond: 10, burst: 3 });
    takeAll(bucket);
    bucket.giveBack();
    bucket.giveBack();
    expect(takeAll(bucket)).toBe(2);
  });

  it("always has a token when it is off", () => {
    const bucket = new TokenBucket({ clock: new FakeClock(), perSecond: Number.POSITIVE_INFINITY, burst: 1 });
    expect([takeAll(bucket), bucket.waitMs]).toEqual([1_000, 0]);
  });

  it("never provides more tokens than the burst and the rate allow in any interval", async () => {
    const step = fc.oneof(
      fc.constant("take" as const),
      fc.constant("take and give back" as const),
      fc.integer({ min: 1, max: 500 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60, size: "max" }),
        fc.integer({ min: 1, max: 5 }),
        async (steps, burst) => {
          const clock = new FakeClock();
          const bucket = new TokenBucket({ clock, perSecond: 20, burst });
          const taken: number[] = [];
          for (const each of steps) {
            if (typeof each === "number") await clock.advance(each);
            else if (!bucket.take()) continue;
            else if (each === "take") taken.push(clock.monotonic());
            else bucket.giveBack();
          }
          taken.forEach((from, i) => {
            taken.slice(i).forEach((until, further) => {
              expect(further + 1).toBeLessThanOrEqual(burst + (until - from) / 50 + 1e-6);
            });
          });
        },
      ),
    );
  });
});
