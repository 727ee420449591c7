import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { compatibilityFlags, flagsWithoutEffect } from "./compatibility-flags.ts";

it("docs/compatibility.md has each of Reloader's flags, and why one has no effect", () => {
  const page = readFileSync(new URL("../../../docs/compatibility.md", import.meta.url), "utf8");
  for (const [name, { why }] of Object.entries(flagsWithoutEffect))
    expect(page).toContain(`| \`--${name}\` | ${why} |\n`);
  for (const name of Object.keys(compatibilityFlags)) expect(page).toMatch(new RegExp(`\`--${name}[\`=]`));
});
