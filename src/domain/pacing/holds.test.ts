import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { hasSettled, holdRows } from "./holds.ts";

it("the docs list all holds in the order of the checks", () => {
  const page = readFileSync(new URL("../../../docs/pacing.md", import.meta.url), "utf8");
  const table = Object.entries(holdRows)
    .map(([reason, { when, ends }]) => `| \`${reason}\` | ${when} | ${ends} |\n`)
    .join("");
  expect(page).toContain(`|---|---|---|\n${table}\n`);
});

it.each([
  ["hold", false],
  ["window", false],
  ["settling", false],
  ["interval", true],
  ["progressing", true],
  ["batch", true],
  ["halted", true],
] as const)("the changes of a write with the hold %s have settled: %s", (reason, settled) => {
  expect(hasSettled({ reason, message: "", until: undefined, warning: false })).toBe(settled);
});
