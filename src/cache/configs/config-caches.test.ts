import { expect, it } from "vitest";
import { limits } from "../../domain/references/limits.ts";
import { maxParsedKeys } from "../../kube/http/large-json.ts";

it("an object whose keys are not all parsed is beyond the budget, so that no hash is of a part of it", () => {
  expect(maxParsedKeys).toBeGreaterThan(limits.keysOfObject.max);
});
