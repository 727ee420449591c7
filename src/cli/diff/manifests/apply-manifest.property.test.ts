import fc from "fast-check";
import { expect, it } from "vitest";
import { applyManifest } from "./apply-manifest.ts";
import type { JsonMap } from "./manifest.ts";

const names = fc.constantFrom(
  "metadata",
  "annotations",
  "data",
  "env",
  "containers",
  "name",
  "value",
  "args",
  "stdin",
  "cpu",
);
const leaf = fc.oneof(
  fc.constantFrom("", "a", "b", "1", "1000m", "1Ki"),
  fc.boolean(),
  fc.integer({ min: 0, max: 3 }),
  fc.constant(null),
);
const { map } = fc.letrec<{ map: JsonMap; value: JsonMap[string] }>((tie) => ({
  map: fc.dictionary(names, tie("value"), { maxKeys: 5 }),
  value: fc.oneof({ maxDepth: 4 }, leaf, tie("map"), fc.array(tie("value"), { maxLength: 4 })),
}));

it("applying any manifest twice has the same result as applying it once", () => {
  fc.assert(
    fc.property(map, map, (live, manifest) => {
      const once = applyManifest(live, manifest);
      expect(applyManifest(once, manifest)).toEqual(once);
    }),
    { numRuns: 2_000 },
  );
});

it("applying the stored object changes nothing", () => {
  fc.assert(
    fc.property(map, (live) => {
      const stored = applyManifest({}, live);
      expect(applyManifest(stored, stored)).toEqual(stored);
    }),
    { numRuns: 2_000 },
  );
});
