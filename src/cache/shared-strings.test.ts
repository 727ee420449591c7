import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedStrings } from "./shared-strings.ts";

describe("SharedStrings", () => {
  it("gives the same list for equal lists, and another for every other", () => {
    const shared = new SharedStrings();
    const first = shared.list(["a", "b"]);
    expect(shared.list(["a", "b"])).toBe(first);
    expect(shared.list(["b", "a"])).toEqual(["b", "a"]);
    expect(shared.list(["ab"])).toEqual(["ab"]);
    expect(shared.list([])).toEqual([]);
  });

  it("gives what is equal to what it got, also after it has started anew", () => {
    const shared = new SharedStrings();
    const key = fc.stringMatching(/^[a-z.]{0,3}$/);
    fc.assert(
      fc.property(fc.array(key, { maxLength: 4 }), (list) => {
        expect(shared.list([...list])).toEqual(list);
        expect(list.map((text) => shared.string(text))).toEqual(list);
      }),
      { numRuns: 3000 },
    );
  });
});
