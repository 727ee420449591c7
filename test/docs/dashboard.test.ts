import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDashboard } from "../monitoring/dashboard.ts";
import { root } from "./fences.ts";
import { dashboardPictures } from "./recordings/dashboard-picture.ts";

const data = /<g class="data">(.*?)<\/g>/gs;
const dashboard = readDashboard();
const withoutRun = dashboardPictures(dashboard, { range: { start: 0, end: 60, step: 2 }, series: new Map() });
const pictures = Array.from(withoutRun, ([name, picture]) => {
  return { name, picture, stored: readFileSync(join(root, "docs/pictures", name), "utf8") };
});

describe.for(pictures)("docs/pictures/$name", ({ picture, stored }) => {
  it("shows the panels of the chart's dashboard, with their titles, units and queries, as `npm run pictures` draws them", () => {
    expect(stored.replace(data, "")).toBe(picture.replace(data, ""));
  });

  it("shows a number or a line in each panel", () => {
    const shown = Array.from(stored.matchAll(data), ([, each = ""]) => each);
    expect(shown).toHaveLength(dashboard.panels.filter(({ type }) => type !== "row").length);
    for (const each of shown) expect(each).toMatch(/class="value"[^>]*>\d|class="line/);
  });
});
