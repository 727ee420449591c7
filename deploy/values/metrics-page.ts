import type { LabelValues, MetricRow } from "../../src/telemetry/metrics/metric-row.ts";

type Catalogue = Readonly<Record<string, Readonly<Record<string, MetricRow>>>>;

const titles: Readonly<Record<string, string>> = {
  workloads: "Workloads",
  cluster: "Cluster and replicas",
  webhooks: "Webhooks",
  ownerReferences: "Owner references",
  notifications: "Notifications",
  process: "Process",
};

const introduction = `
<!-- Made by \`npm run chart\` from src/telemetry/catalogue/. -->
# Metrics
\`wave run\` serves \`/metrics\` on \`--metrics-bind-address\` (\`:8080\`). [Alerts](alerts.md) describes what to do if a metric shows a problem.
The chart includes a Grafana dashboard (\`metrics.dashboard.enabled\`).

- Every series whose label values are known in advance exists from the start, at 0. No label contains the name of a namespace, a workload, a
  ConfigMap or a Secret, so no user can create more series.
- Logs, metrics and Events use the same words: the field \`outcome\` of a log line has the values of the label \`outcome\`. Reasons of Events are in brackets.
- Only the leader counts workloads. A standby replica reports 0.
- A histogram has \`_bucket\`, \`_sum\` and \`_count\`.
`;

/** Returns docs/metrics.md: every metric by topic, with the meaning of each label value. */
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

/** Returns the unit from the suffix of the name (https://prometheus.io/docs/practices/naming/). */
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

/** Returns a table for each label whose values have a description. Metrics with the same label values share a table. */
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
