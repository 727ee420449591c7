import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { pacingFlags } from "./pacing-flags.ts";

it("the flags of pacing are in the docs as they are in the table", () => {
  const page = readFileSync(new URL("../../../docs/pacing.md", import.meta.url), "utf8");
  const rows = Object.entries(pacingFlags).map(([name, { shownDefault, help }]) => {
    return `| \`--${name}\` | ${shownDefault === undefined ? "" : `${shownDefault} `}| ${help} |\n`;
  });
  expect(page).toContain(`|---|---|---|\n${rows.join("")}\n`);
});
