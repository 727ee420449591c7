import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mutants } from "./rows.ts";

it.each(mutants)("the mutant of $file replaces a text that the file has once: $old", ({ file, old }) => {
  const text = readFileSync(join(import.meta.dirname, "../..", file), "utf8");
  expect(text.split(old)).toHaveLength(2);
});
