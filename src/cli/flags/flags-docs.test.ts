import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runFlags } from "./run-flags.ts";

it("each flag of wave run has a person who needs it, or no effect", () => {
  const page = readFileSync("contributing/adr/0003-flags.md", "utf8");
  const shown = Array.from(page.matchAll(/^\| `--([^`]+)` \| .+ \|$/gm), ([, name]) => name);
  const flags = Object.entries(runFlags).filter(([, flag]) => !("hasNoEffect" in flag));
  expect(shown).toEqual(flags.map(([name]) => name));
});
