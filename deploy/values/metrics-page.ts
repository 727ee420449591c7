import type { LabelValues, MetricRow } from "../../src/telemetry/metrics/metric-row.ts";

type Catalogue = Readonly<Record<string, Readonly<Record<string, MetricRow>>>>;

const titles: Readonly<Record<string, string>> = {
  workloads: "Workloads",
  cluster: "Cluster and replicas",
  admission: "Admission",
  ownership: "Owner references",
  notifications: "Notifications",
  process: "The process",
};

const introduction = `
<!-- Made by \`npm run chart\` from src/telemetry/catalogue/. -->
# Metrics
\`/metrics\` of \`wave run\`, on \`--metrics-bind-address\` (\`:8080\`). What to do when one of them tells of trouble: [alerts](alerts.md). A
dashboard for Grafana comes with the chart (\`metrics.dashboard.enabled\`).

- All series whose labels' values are known beforehand are there from the start, at 0. No label holds the name of a namespace, a workload, a
  ConfigMap or a Secret, so nobody can make more series than these.
- Logs, metrics and Events use the same words: \`outcome\` in a line of the log is \`outcome\` here, and the reasons of Events stand in brackets.
- Workloads are counted by the leader; a replica that stands by has 0 there.
- A histogram has \`_bucket\`, \`_sum\` and \`_count\`.
`;

/** docs/metrics.md: every metric, by what it tells of, and what each value of a label means. */
export function metricsPage(catalogue: Catalogue): string {
  const sections = Object.entries(catalogue).map(([name, rows]) => section(titles[name] ?? name, Object.values(rows)));
  return `${introduction.trim()}\n\n${sections.join("\n\n")}\n`;
}

function section(title: string, rows: readonly MetricRow[]): string {
  const lines = rows.map((row) => {
    const only = row.only === undefined ? "" : ` (with \`${row.only}\`)`;
    return `| \`${row.name}\` | ${row.type} | ${unitOf(row)} | ${cell(row.help)}${only} | ${labelsOf(row)} |`;
  });
  const table = ["| metric | type | unit | | labels |", "|---|---|---|---|---|", ...lines].join("\n");
  return [`## ${title}`, table, ...meanings(rows)].join("\n\n");
}

/** By the name's end, as Prometheus has it (https://prometheus.io/docs/practices/naming/). */
function unitOf({ name }: MetricRow): string {
  if (/_seconds(_total)?$/.test(name)) return "seconds";
  return /_bytes(_total)?$/.test(name) ? "bytes" : "";
}

function labelsOf({ labels }: MetricRow): string {
  return Object.entries(labels)
    .map(([label, values]) => `\`${label}\`: ${summary(values)}`)
    .join("; ");
}

function summary(values: LabelValues): string {
  if (typeof values === "string") return cell(values);
  return isList(values) ? values.map((value) => `\`${value}\``).join(", ") : "see below";
}

/** A table for each label whose values have a meaning; one for several metrics that have the same. */
function meanings(rows: readonly MetricRow[]): string[] {
  const labels = rows.flatMap(({ name, labels }) =>
    Object.entries(labels).flatMap(([label, values]) =>
      typeof values === "string" || isList(values) ? [] : { values, of: `\`${label}\` of \`${name}\`` },
    ),
  );
  return [...Map.groupBy(labels, ({ values }) => values)].map(([values, same]) => {
    const lines = Object.entries(values).map(([value, meaning]) => `| \`${value}\` | ${cell(meaning)} |`);
    return [`${same.map(({ of }) => of).join(", ")}:`, "", "| | |", "|---|---|", ...lines].join("\n");
  });
}

function isList(values: Exclude<LabelValues, string>): values is readonly string[] {
  return Array.isArray(values);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
