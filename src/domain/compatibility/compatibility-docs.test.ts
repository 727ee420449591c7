import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type CompatibilityRow, sapRows } from "./directive.ts";
import { patternLimits, stakaterRows } from "./stakater.ts";

const page = readFileSync(new URL("../../../docs/annotations.md", import.meta.url), "utf8");
const titles = { workload: "workload", template: "pod template", config: "ConfigMap, Secret" } as const;

/** The line of an annotation without the effect and the difference to the other controller. */
function startOf({ name, on, values }: CompatibilityRow): string {
  return `| \`${name}\` | ${on.map((place) => titles[place]).join(", ")} | ${values} | `;
}

describe("docs/annotations.md", () => {
  it.each([
    ["SAP's pod-reloader", sapRows],
    ["Stakater's Reloader", stakaterRows],
  ])("has the annotations of %s in its table", (title, rows) => {
    const section = page.slice(page.indexOf(`## ${title}`));
    const begin = section.indexOf("|---|---|---|---|---|\n") + "|---|---|---|---|---|\n".length;
    const lines = section.slice(begin, section.indexOf("\n\n", begin)).split("\n");
    const starts = rows.map(startOf);
    expect(lines.map((line, i) => line.slice(0, starts[i]?.length))).toEqual(starts);
    for (const [i, line] of lines.entries()) expect(line.slice(starts[i]?.length)).toMatch(/^[^|]{10,} \| .*\|$/);
  });

  it("has the limits of expressions", () => {
    const { patterns, characters } = patternLimits;
    expect(page).toContain(`At most ${patterns} expressions, each with at most ${characters} characters.`);
  });
});
