import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeReferences } from "../model/workload-references.ts";
import type { Reference } from "./references.ts";

const name = fc.constantFrom("a", "b", "a env true", "c/d");
const keys = fc.oneof(fc.constant("all" as const), fc.array(fc.constantFrom("k", "l", "m"), { maxLength: 3 }));
const references: fc.Arbitrary<readonly Reference[]> = fc.array(
  fc.record({
    kind: fc.constantFrom("ConfigMap" as const, "Secret" as const),
    namespace: fc.constantFrom("shop", "other"),
    name,
    reads: fc.constantFrom("env" as const, "files" as const, "existence" as const),
    keys,
    optional: fc.boolean(),
    path: fc.constantFrom("one", "two", "three"),
  }),
  { maxLength: 30 },
);

function alike(a: Reference, b: Reference): boolean {
  const whole = (r: Reference) => r.keys === "all";
  const { kind, namespace, reads, optional } = a;
  const same = kind === b.kind && namespace === b.namespace && a.name === b.name;
  return same && reads === b.reads && optional === b.optional && whole(a) === whole(b);
}

/** The same by looking at every pair. */
function naively(given: readonly Reference[]): readonly Reference[] {
  return given
    .filter((reference, i) => given.findIndex((other) => alike(reference, other)) === i)
    .map((first) => {
      const united = given.filter((other) => alike(first, other)).flatMap(({ keys }) => keys);
      return { ...first, keys: first.keys === "all" ? "all" : [...new Set(united)].sort() };
    });
}

describe("mergeReferences", () => {
  it("merges references to one object with one way of reading, and nothing else", () => {
    fc.assert(
      fc.property(references, (given) => {
        const merged = mergeReferences(given);
        expect(merged).toHaveLength(naively(given).length);
        expect(merged).toEqual(expect.arrayContaining([...naively(given)]));
      }),
    );
  });

  it("returns the same in any order, except for the paths", () => {
    const placeless = (merged: readonly Reference[]) => merged.map(({ path: _, ...reference }) => reference);
    const shuffled = references.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray([...given], { minLength: given.length })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        expect(placeless(mergeReferences(one))).toEqual(placeless(mergeReferences(other)));
      }),
    );
  });
});
