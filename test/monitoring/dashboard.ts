import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chart } from "../deploy/rendered.ts";

/** The place of a panel, in units of Grafana: a dashboard is 24 units wide. */
export interface GridPosition {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

/** One query of a panel. */
export interface Target {
  readonly expr: string;
  /** The name of each series. `{{label}}` is the value of a label. */
  readonly legendFormat: string;
}

/** One color of a stat, from a value on. */
export interface Threshold {
  readonly color: string;
  readonly value: number | null;
}

/** A row, a stat or a time series of the dashboard. */
export interface DashboardPanel {
  readonly title: string;
  readonly type: "row" | "stat" | "timeseries";
  readonly gridPos: GridPosition;
  readonly targets?: readonly Target[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit: string;
      readonly thresholds?: { readonly steps: readonly Threshold[] };
      readonly custom?: { readonly stacking: { readonly mode: "normal" | "none" } };
    };
  };
}

/** The dashboard of the chart, with the fields that tests and pictures read. */
export interface Dashboard {
  readonly title: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly current?: { text: string } }[] };
  readonly panels: readonly DashboardPanel[];
}

/** Returns the dashboard of the chart. */
export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(join(chart, "files/dashboard.json"), "utf8")) as Dashboard;
}

/** Returns a query of the dashboard as Grafana sends it if all clusters and namespaces are selected, with rates over 10 s. */
export function selectingAll(expr: string): string {
  return expr.replace(/\$(cluster|namespace)/g, ".*").replaceAll("$__rate_interval", "10s");
}
