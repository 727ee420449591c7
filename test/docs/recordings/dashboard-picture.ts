import type { Dashboard, DashboardPanel, Threshold } from "../../monitoring/dashboard.ts";
import { type Box, colors, type Look, phone, wide, wrapped } from "./dashboard-layout.ts";
import type { DashboardRun } from "./dashboard-run.ts";
import { type Line, lineChart } from "./line-chart.ts";
import { escaped } from "./terminal-picture.ts";
import { scaleFor } from "./units.ts";

const origin = "Drawn by npm run pictures, not by Grafana. Prometheus answered the dashboard’s queries in a test run.";

/** Returns the pictures of a dashboard with the data of a run, by file name. */
export function dashboardPictures(dashboard: Dashboard, run: DashboardRun): ReadonlyMap<string, string> {
  return new Map([
    ["dashboard.svg", pictureOf(dashboard, run, wide)],
    ["dashboard-phone.svg", pictureOf(dashboard, run, phone)],
  ]);
}

/** Draws everything that differs in each run in groups of the class "data". The queries of a panel are in its tooltip. */
function pictureOf(dashboard: Dashboard, run: DashboardRun, look: Look): string {
  const { width, margin, small } = look;
  const { boxes, height } = look.place(dashboard.panels);
  const label = `The Grafana dashboard “${dashboard.title}” while Wave halts a bad edit`;
  const variables = dashboard.templating.list.flatMap(({ name, current }) =>
    current === undefined ? [] : [`${name}: ${current.text}`],
  );
  const notes = wrapped(origin, width - 2 * margin, small);
  const panels = dashboard.panels.flatMap((panel, at) => {
    const box = boxes[at];
    return box === undefined ? [] : [drawn(panel, box, look, run)];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" role="img" aria-label="${escaped(label)}">
  <title>${escaped(label)}</title>
  <style>${style(look)}  </style>
  <rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
  <text class="name" x="${margin}" y="24">${dashboard.title}</text>
  <text class="small" x="${width - margin}" y="24" text-anchor="end">${variables.join(" · ")}</text>
${panels.join("\n")}
${texts(notes, "small", margin, height - margin - notes.length * (small + 3), small)}
</svg>
`;
}

function drawn(panel: DashboardPanel, box: Box, look: Look, run: DashboardRun): string {
  const { title, type, targets = [], fieldConfig } = panel;
  const open = `  <g class="panel" transform="translate(${box.x} ${box.y})">`;
  if (type === "row") return `${open}<text class="name" x="2" y="${look.title + 4}">⌄ ${escaped(title)}</text></g>`;
  const { unit, thresholds, custom } = fieldConfig?.defaults ?? { unit: "short" };
  const queries = targets.map(({ expr, legendFormat }) => (legendFormat === "" ? expr : `${legendFormat}: ${expr}`));
  const tooltip = `<title>${escaped([`${title} (${unit})`, ...queries].join("\n"))}</title>`;
  const frame = `${open}${tooltip}<rect class="card" width="${box.w}" height="${box.h}" rx="4"/>`;
  const lines = linesOf(targets, run);
  if (type === "stat") {
    const value = lines[0]?.points.at(-1)?.value ?? Number.NaN;
    const name = texts(wrapped(title, box.w - 12, look.small), "stat", 7, 4, look.small);
    return `${frame}${stat(value, unit, thresholds?.steps ?? [], box)}${name}</g>`;
  }
  const isStacked = custom?.stacking.mode === "normal";
  const name = texts([title], "title", 8, 5, look.title);
  return `${frame}${name}<g class="data">${lineChart({ lines, isStacked, unit, box, look, seconds: run.range.end - run.range.start })}</g></g>`;
}

/** Returns the last value on the color of its threshold. */
function stat(value: number, unit: string, steps: readonly Threshold[], { w, h }: Box): string {
  const color = steps.findLast((step) => step.value === null || value >= step.value)?.color;
  const text = scaleFor(unit, value).text(value);
  return `<g class="data"><rect class="${color}" width="${w}" height="${h}" rx="4"/><text class="value" x="${w - 8}" y="${h - 9}" text-anchor="end">${text}</text></g>`;
}

function linesOf(targets: DashboardPanel["targets"] = [], { range, series }: DashboardRun): readonly Line[] {
  return targets.flatMap(({ expr, legendFormat }) =>
    (series.get(expr) ?? []).map(({ metric, values }) => ({
      name: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? ""),
      points: values.map(([time, value]) => ({ at: time - range.start, value: Number(value) })),
    })),
  );
}

function texts(lines: readonly string[], look: string, x: number, y: number, fontSize: number): string {
  const each = lines.map((line, at) => {
    const baseline = (y + fontSize + at * (fontSize + 3)).toFixed(1);
    return `<text class="${look}" x="${x}" y="${baseline}">${escaped(line)}</text>`;
  });
  return each.join("");
}

function style({ title, small }: Look): string {
  const series = (theme: 0 | 1) =>
    colors
      .map(
        (color, at) => `.line.c${at} { stroke: ${color[theme]} } .area.c${at}, .key.c${at} { fill: ${color[theme]} }`,
      )
      .join("\n    ");
  return `
    .ground { fill: #f8fafb; stroke: #d5dde1 }
    .card { fill: #ffffff; stroke: #d5dde1 }
    .green { fill: #2b7a3f } .red { fill: #b3372b } .blue { fill: #2a5db0 }
    text { fill: #17242b; font-size: ${small}px }
    .name { font-size: ${title + 1.5}px; font-weight: 600 }
    .title { font-size: ${title}px; font-weight: 600 }
    .small { fill: #4a5a63 }
    .value { font-size: 22px; font-weight: 600 }
    .grid { stroke: #e3e9ec }
    .line { fill: none; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round }
    .area { fill-opacity: 0.3 }
    ${series(0)}
    @media (prefers-color-scheme: dark) {
      .ground { fill: #1b1f22; stroke: #3a454b }
      .card { fill: #20282c; stroke: #3a454b }
      text { fill: #e8eef1 }
      .small { fill: #b4c2c9 }
      .grid { stroke: #333e44 }
      ${series(1)}
    }
    .stat, .value { fill: #ffffff }
`;
}
