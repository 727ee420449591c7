import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedLists } from "./shared-lists.ts";

describe("SharedLists", () => {
  it("returns the same list for equal lists, and different lists otherwise", () => {
    const shared = new SharedLists();
    const first = shared.list(["a", "b"]);
    expect(shared.list(["a", "b"])).toBe(first);
    expect(shared.list(["b", "a"])).toEqual(["b", "a"]);
    expect(shared.list(["ab"])).toEqual(["ab"]);
    expect(shared.list([])).toEqual([]);
  });

  it("keeps no list of many or long strings, which would accumulate with each edit of a large object", () => {
    const shared = new SharedLists();
    const many = () => Array.from({ length: 17 }, (_, index) => `key-${index}`);
    const long = () => ["x".repeat(257)];
    for (const make of [many, long]) {
      const second = make();
      expect(shared.list(make())).toEqual(second);
      expect(shared.list(second)).toBe(second);
    }
  });

  it("returns an equal list, also after the table was cleared", () => {
    const shared = new SharedLists();
    const key = fc.stringMatching(/^[a-z.]{0,3}$/);
    fc.assert(
      fc.property(fc.array(key, { maxLength: 4 }), (list) => {
        const before = [...list];
        expect(shared.list(list)).toEqual(before);
      }),
      { numRuns: 3000 },
    );
  });
});
