import { describe, expect, it } from "vitest";
import { Retries } from "./retries.ts";

const retries = () => new Retries({ baseMs: 200, random: () => 1 });

describe("the delay of a retry", () => {
  it("doubles with each failure up to the maximum", () => {
    const keys = retries();
    const delays: number[] = [];
    for (let now = 0, tries = 0; tries < 13; tries++) {
      const delayMs = keys.failed("a", now, 300_000);
      delays.push(delayMs);
      now += delayMs;
    }
    expect(delays.slice(0, 4)).toEqual([200, 400, 800, 1_600]);
    expect(delays.at(-1)).toBe(300_000);
  });

  it("does not grow with failures before the time of the retry", () => {
    const keys = retries();
    keys.failed("a", 0, 300_000);
    keys.failed("a", 200, 300_000);
    for (let now = 201; now < 500; now++) expect(keys.failed("a", now, 300_000)).toBe(400);
    expect(keys.failed("a", 900, 300_000)).toBe(800);
  });

  it("starts again at the base after a success, for each key", () => {
    const keys = retries();
    keys.failed("a", 0, 300_000);
    keys.failed("b", 0, 300_000);
    keys.succeeded("a");
    expect([keys.failuresOf("a"), keys.failuresOf("b")]).toEqual([0, 1]);
    expect(keys.failed("a", 200, 300_000)).toBe(200);
  });
});
