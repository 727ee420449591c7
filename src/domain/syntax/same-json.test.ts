import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sameJson } from "./same-json.ts";

/** A value in a property of a property of …, which counts how often anybody looks at it. */
function deep(levels: number, seen: () => void): unknown {
  const innermost = {
    get value() {
      seen();
      return 1;
    },
  };
  return Array.from({ length: levels }).reduce<unknown>((inner) => ({ inner }), innermost);
}

describe("sameJson", () => {
  it("is equality of what JSON can say", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(sameJson(a, structuredClone(a))).toBe(true);
        const equal = (() => {
          try {
            expect(a).toEqual(b);
            return true;
          } catch {
            return false;
          }
        })();
        expect(sameJson(a, b)).toBe(equal);
      }),
    );
  });

  it("takes a property that is undefined as absent", () => {
    expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(sameJson({ a: 1, b: undefined }, { a: 1, c: null })).toBe(false);
    expect(sameJson({ a: undefined }, { b: undefined })).toBe(true);
  });

  it("looks at each part as often however deep it lies", () => {
    const looks = (levels: number) => {
      let count = 0;
      const seen = () => count++;
      expect(sameJson(deep(levels, seen), deep(levels, seen))).toBe(true);
      return count;
    };
    expect(looks(12)).toBe(looks(1));
  });
});
