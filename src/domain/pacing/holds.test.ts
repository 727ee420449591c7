import { expect, it } from "vitest";
import { hasSettled } from "./holds.ts";

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
