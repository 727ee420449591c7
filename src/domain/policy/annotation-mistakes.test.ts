import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { userAnnotations } from "./annotation-mistakes.ts";
import type { AnnotationPlace } from "./policy-rows.ts";

const titles: Record<AnnotationPlace, string> = {
  workload: "workload",
  template: "pod template",
  namespace: "Namespace",
  config: "ConfigMap, Secret",
};

it("the annotations that people write are in the docs", () => {
  const page = readFileSync(new URL("../../../docs/annotations.md", import.meta.url), "utf8");
  const rows = Object.entries(userAnnotations).map(([name, { places, allowed }]) => {
    return `| \`${name}\` | ${places.map((place) => titles[place]).join(", ")} | ${allowed} | `;
  });
  const begin = page.indexOf(rows[0] ?? "");
  const lines = page.slice(begin, page.indexOf("\n\n", begin)).split("\n");
  expect(lines.map((line, i) => line.slice(0, rows[i]?.length))).toEqual(rows);
  for (const [i, line] of lines.entries()) expect(line.slice(rows[i]?.length)).toMatch(/^[^|]{10,} \|$/);
});
