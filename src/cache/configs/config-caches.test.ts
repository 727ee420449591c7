import { expect, it } from "vitest";
import { limits, parsedKeys } from "../../domain/references/references.ts";
import { maxParsedKeys } from "../../kube/http/json-bytes.ts";

it("an object with too many keys to parse exceeds the limit, so that no hash covers only a part of it", () => {
  expect(maxParsedKeys).toBeGreaterThan(limits.keysOfObject.max);
  expect(maxParsedKeys).toBe(parsedKeys);
});
