import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { holdRows } from "./holds.ts";

it("the docs list all holds in the order of the checks", () => {
  const page = readFileSync(new URL("../../../docs/pacing.md", import.meta.url), "utf8");
  const table = Object.entries(holdRows)
    .map(([reason, { when, ends }]) => `| \`${reason}\` | ${when} | ${ends} |\n`)
    .join("");
  expect(page).toContain(`|---|---|---|\n${table}\n`);
});
