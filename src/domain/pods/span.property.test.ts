import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endOf, formatSpans, maxSpans, mergeSpans, parseSpans, type Span } from "./spans.ts";

const second = 1_000;
const now = Date.parse("2026-06-01T00:00:00Z");
const spans = fc.array(
  fc.record({ before: fc.integer({ min: 0, max: 1_000_000 }), length: fc.integer({ min: 0, max: 10_000 }) }).map(
    ({ before, length }): Span => ({
      from: now - before * second,
      to: Math.min(now, now - (before - length) * second),
    }),
  ),
  { maxLength: 20 },
);

describe("Spans", () => {
  it("cover everything that they covered before a merge, in order and at most eight", () => {
    fc.assert(
      fc.property(spans, (all) => {
        const merged = mergeSpans(all);
        expect(merged.length).toBeLessThanOrEqual(maxSpans);
        for (const each of all)
          expect(merged.some(({ from, to }) => from <= each.from && endOf({ from, to }) >= endOf(each))).toBe(true);
        for (const [index, { from }] of merged.slice(1).entries())
          expect(from).toBeGreaterThan(endOf(merged[index] as Span));
      }),
    );
  });

  it("are the same after they were written and read", () => {
    fc.assert(
      fc.property(spans, fc.boolean(), (all, isOpen) => {
        const merged = mergeSpans(isOpen ? [...all, { from: now - second, to: undefined }] : all);
        if (merged.length === 0) return;
        expect(parseSpans(formatSpans("v2:1", merged), "v2:1", now)).toEqual(merged);
      }),
    );
  });

  it("are none of another hash, and never end in the future", () => {
    const text = formatSpans("v2:1", [{ from: now - second, to: now + 60 * second }]);
    expect(parseSpans(text, "v2:2", now)).toEqual([]);
    expect(parseSpans(text, "v2:1", now)).toEqual([{ from: now - second, to: now }]);
    expect(parseSpans(formatSpans("v2:1", [{ from: now + second, to: undefined }]), "v2:1", now)).toEqual([]);
  });

  it.each([
    "",
    "v2:1",
    "v2:1 x",
    "v2:1 2026-01-01T00:00:00Z",
    "v2:1 2026-99-01T00:00:00Z/",
    `v2:1 ${"2026-01-01T00:00:00Z/,".repeat(99)}`,
  ])("are none in the malformed text %j", (text) => {
    expect(parseSpans(text, "v2:1", now)).toEqual([]);
  });
});
