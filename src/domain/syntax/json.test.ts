import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundedMemo, equalJson } from "./json.ts";

/** Returns a deeply nested value that counts how often it is read. */
function deep(levels: number, seen: () => void): unknown {
  const innermost = {
    get value() {
      seen();
      return 1;
    },
  };
  return Array.from({ length: levels }).reduce<unknown>((inner) => ({ inner }), innermost);
}

describe("equalJson", () => {
  it("compares JSON values", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(equalJson(a, structuredClone(a))).toBe(true);
        const equal = (() => {
          try {
            expect(a).toEqual(b);
            return true;
          } catch {
            return false;
          }
        })();
        expect(equalJson(a, b)).toBe(equal);
      }),
    );
  });

  it("treats an undefined property as absent", () => {
    expect(equalJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
    expect(equalJson({ a: 1, b: undefined }, { a: 1, c: null })).toBe(false);
    expect(equalJson({ a: undefined }, { b: undefined })).toBe(true);
  });

  it("reads each part equally often at any depth", () => {
    const looks = (levels: number) => {
      let count = 0;
      const seen = () => count++;
      expect(equalJson(deep(levels, seen), deep(levels, seen))).toBe(true);
      return count;
    };
    expect(looks(12)).toBe(looks(1));
  });
});

it("computes once for each of the last texts, even if the result is undefined, and drops the least recently used entry", () => {
  const computed: string[] = [];
  const answer = boundedMemo(2, (text) => {
    computed.push(text);
    return text === "none" ? undefined : text.length;
  });
  expect([answer("a"), answer("none"), answer("a"), answer("none")]).toEqual([1, undefined, 1, undefined]);
  expect(computed).toEqual(["a", "none"]);
  answer("b");
  answer("none");
  expect(computed).toEqual(["a", "none", "b"]);
  answer("a");
  expect(computed).toEqual(["a", "none", "b", "a"]);
});
