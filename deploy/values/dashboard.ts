import { type Panel, panelRows } from "./dashboard-panels.ts";

const datasource = { type: "prometheus", uid: "$datasource" };

/** Width of a dashboard, in the units of Grafana. */
const whole = 24;
const heights = { stat: 4, timeseries: 8 } as const;

/** Returns the Grafana dashboard as JSON: the rows of panels. */
export function dashboard(): string {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: inRow } of panelRows) {
    panels.push({
      id: panels.length + 1,
      title,
      type: "row",
      collapsed: false,
      gridPos: at(0, y, whole, 1),
      panels: [],
    });
    y++;
    const most = inRow[0]?.type === "stat" ? 6 : inRow.length % 4 === 0 ? 4 : 3;
    const height = heights[inRow[0]?.type ?? "timeseries"];
    for (const [index, panel] of inRow.entries()) {
      const w = Math.floor(whole / most);
      const gridPos = at((index % most) * w, y + Math.floor(index / most) * height, w, height);
      panels.push({ id: panels.length + 1, gridPos, ...panelOf(panel) });
    }
    y += Math.ceil(inRow.length / most) * height;
  }
  const list = [variable("datasource", "datasource", "prometheus"), clusters, namespaces];
  const time = { from: "now-6h", to: "now" };
  const page = { title: "Wave", uid: "wave", schemaVersion: 39, tags: ["wave"], timezone: "browser", refresh: "1m" };
  return `${JSON.stringify({ ...page, time, templating: { list }, panels }, undefined, 2)}\n`;
}

function at(x: number, y: number, w: number, h: number) {
  return { h, w, x, y };
}

function variable(name: string, type: string, query: string) {
  return { name, type, query };
}

/** Selects clusters, if one Prometheus has the metrics of several with the label `cluster`. Without the label, "All" selects everything. */
const clusters = selection("cluster", "label_values(wave_build_info, cluster)");

/** Selects the namespaces of Wave, if one Prometheus scrapes several. */
const namespaces = selection("namespace", 'label_values(wave_build_info{cluster=~"$cluster"}, namespace)');

function selection(name: string, query: string) {
  return {
    ...variable(name, "query", query),
    datasource,
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: ".*",
    current: { text: "All", value: "$__all" },
  };
}

function panelOf({ title, type, description, unit, queries, ...look }: Panel): object {
  const targets = queries.map(([expr, legendFormat], index) => ({
    refId: String.fromCharCode("A".charCodeAt(0) + index),
    datasource,
    expr,
    legendFormat,
    ...(type === "stat" ? { instant: true } : {}),
  }));
  const thresholds = { mode: "absolute", steps: stepsOf(look.bad) };
  const custom = {
    lineWidth: 1,
    fillOpacity: look.stacked ? 30 : 0,
    stacking: { mode: look.stacked ? "normal" : "none" },
  };
  const defaults = { unit, ...(type === "stat" ? { thresholds } : { min: 0, custom }) };
  return {
    title,
    type,
    description,
    datasource,
    fieldConfig: { defaults, overrides: [] },
    options: optionsOf(type),
    targets,
  };
}

/** Returns green and red thresholds. */
function stepsOf(bad: Panel["bad"]) {
  if (bad === undefined) return [{ color: "blue", value: null }];
  const [first, then] = "from" in bad ? ["green", "red"] : ["red", "green"];
  return [
    { color: first, value: null },
    { color: then, value: "from" in bad ? bad.from : bad.below },
  ];
}

function optionsOf(type: Panel["type"]): object {
  if (type === "stat") return { colorMode: "background", graphMode: "none", reduceOptions: { calcs: ["lastNotNull"] } };
  return {
    legend: { showLegend: true, displayMode: "list", placement: "bottom", calcs: [] },
    tooltip: { mode: "multi", sort: "desc" },
  };
}
