import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs } from "./backoff.ts";

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
