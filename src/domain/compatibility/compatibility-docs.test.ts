import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type CompatibilityRow, sapRows } from "./directive.ts";
import { stakaterRows } from "./stakater.ts";

const page = readFileSync(new URL("../../../docs/annotations.md", import.meta.url), "utf8");
const titles = { workload: "workload", template: "pod template", config: "ConfigMap, Secret" } as const;

function lineOf({ name, on, values, means, unlike = "" }: CompatibilityRow): string {
  const cells = [`\`${name}\``, on.map((place) => titles[place]).join(", "), values, means, unlike];
  // In a table a bar separates cells.
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`.replaceAll("  |", " |");
}

describe("docs/annotations.md", () => {
  it.each([
    ["SAP's pod-reloader", sapRows],
    ["Stakater's Reloader", stakaterRows],
  ])("has the annotations of %s in its table", (title, rows) => {
    const section = page.slice(page.indexOf(`## ${title}`));
    const begin = section.indexOf("|---|---|---|---|---|\n") + "|---|---|---|---|---|\n".length;
    expect(section.slice(begin, section.indexOf("\n\n", begin)).split("\n")).toEqual(rows.map(lineOf));
  });
});
