import fc from "fast-check";
import { expect, it } from "vitest";
import { PathTree } from "../model/pod-references.ts";

const path = fc.array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 4 });

it("finds a path that was added, that lies in one, or that is on the way to one", () => {
  fc.assert(
    fc.property(fc.array(path, { maxLength: 8 }), path, (added, searched) => {
      const tree = new PathTree();
      for (const one of added) tree.add(one);
      const text = (segments: readonly string[]) => `${segments.join("/")}/`;
      const expected = added.some(
        (one) => text(one).startsWith(text(searched)) || text(searched).startsWith(text(one)),
      );
      expect(tree.crosses(searched)).toBe(expected);
      expect(tree.topNames()).toEqual([...new Set(added.map(([first]) => first))]);
    }),
  );
});
