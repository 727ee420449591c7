import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toWarnings, writeReview } from "./review.ts";

describe("writeReview", () => {
  it("gives the reason of a denial and omits the patch", () => {
    const patch = [{ op: "remove", path: "/a" }] as const;
    const { response } = JSON.parse(writeReview("u", { patch, warnings: ["w"], denied: "why" }));
    expect(response).toEqual({
      uid: "u",
      allowed: false,
      status: { message: "why", code: 403 },
      warnings: ["w"],
    });
  });
});

describe("toWarnings", () => {
  it("returns distinct single lines without empty ones", () => {
    expect(toWarnings(["a\nb\u0007\u202ec", "d", "d", " \n"])).toEqual(["a b c", "d"]);
  });

  it("truncates to 256 characters, never inside a character", () => {
    expect(toWarnings(["😀".repeat(300)])).toEqual([`${"😀".repeat(255)}…`]);
    expect(toWarnings(["x".repeat(256)])).toEqual(["x".repeat(256)]);
  });

  it("returns at most ten warnings, and the last one has the number of omitted ones", () => {
    const many = Array.from({ length: 14 }, (_, index) => `w${index}`);
    expect(toWarnings(many)).toEqual([...many.slice(0, 9), "Wave: 5 more warnings"]);
    expect(toWarnings(many.slice(0, 10))).toEqual(many.slice(0, 10));
  });

  it("returns warnings that the API server passes on whole, for any text", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 600 })), (texts) => {
        const warnings = toWarnings(texts);
        expect(warnings.reduce((sum, text) => sum + [...text].length, 0)).toBeLessThanOrEqual(4096);
        for (const text of warnings) {
          expect(text.isWellFormed()).toBe(true);
          expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        }
      }),
    );
  });
});
