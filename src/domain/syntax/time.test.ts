import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./time.ts";

describe("parseDuration", () => {
  it.each([
    ["0", 0],
    ["300ms", 300],
    ["1.5s", 1500],
    [".5s", 500],
    ["5.s", 5000],
    ["1h30m", 5_400_000],
    ["2m3s4ms", 123_004],
    ["250us", 0.25],
    ["250µs", 0.25],
    ["+5m", 300_000],
    ["1m1m", 120_000],
  ])("parses %s as Go does", (text, ms) => {
    expect(parseDuration(text)).toBeCloseTo(ms, 9);
  });

  it.each(["", "5", "-5m", "5 m", "m", "5x", "1h 30m", ".s", "5mm", "1e3s", "0x5s", "5M", "٣s"])(
    "refuses %j",
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );
});

describe("formatDuration", () => {
  it.each([
    [0, "0"],
    [300, "300ms"],
    [2000, "2s"],
    [90_000, "1m30s"],
    [300_000, "5m"],
    [5_400_000, "1h30m"],
    [61_500, "1m1.5s"],
  ])("formats %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("formats every duration so that it is parsed back", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 0, max: 999 }), (ms, microseconds) => {
        const duration = ms + microseconds / 1000;
        expect(parseDuration(formatDuration(duration))).toBeCloseTo(duration, 4);
      }),
    );
  });
});
