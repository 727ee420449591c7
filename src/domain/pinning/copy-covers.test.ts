import { expect, it } from "vitest";
import { configMap } from "../../../test/support/domain/objects.ts";
import type { Reference } from "../references/references.ts";
import { copyCovers } from "./pinned-lookup.ts";

const reads = (way: Reference["reads"], keys: Reference["keys"]): Reference => ({
  kind: "ConfigMap",
  namespace: "default",
  name: "page",
  reads: way,
  keys,
  optional: true,
  path: "",
});
const copy = configMap("page-0000000001", { a: "1" });

it.each([
  ["a key that the copy has", reads("env", ["b"]), reads("env", ["a"]), true],
  ["a key that was read and was missing", reads("env", ["b"]), reads("files", ["b"]), true],
  ["a key that was not read", reads("env", ["a"]), reads("env", ["b"]), false],
  ["all keys after one key", reads("files", ["a"]), reads("files", "all"), false],
  ["all keys after all keys", reads("files", "all"), reads("env", "all"), true],
  ["all files after all variables, which omit binaryData", reads("env", "all"), reads("files", "all"), false],
  ["a file after all variables", reads("env", "all"), reads("files", ["b"]), false],
  ["a variable after all variables", reads("env", "all"), reads("env", ["b"]), true],
  ["nothing", reads("env", ["a"]), reads("existence", "all"), true],
])("reports for a new template that reads %s whether the copy has it", (_, before, after, expected) => {
  expect(copyCovers(copy, [before], [after])).toBe(expected);
});
