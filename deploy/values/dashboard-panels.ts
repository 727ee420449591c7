import { catalogue } from "../../src/telemetry/catalogue.ts";
import type { MetricRow } from "../../src/telemetry/metrics/metric-row.ts";

/** One panel of the dashboard. */
export interface Panel {
  readonly title: string;
  readonly type: "stat" | "timeseries";
  readonly description: string;
  /** Unit identifier of Grafana. */
  readonly unit: string;
  /** PromQL expressions and legends. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** Threshold at which a stat is red. Undefined: never. */
  readonly bad?: { readonly from: number } | { readonly below: number } | undefined;
  readonly stacked?: boolean;
}

const { workloads, cluster, webhooks, process } = catalogue;

/** Returns the selector of a metric in the chosen namespaces. */
function chosen({ name }: MetricRow, suffix = "", matchers = ""): string {
  return `${name}${suffix}{cluster=~"$cluster",namespace=~"$namespace"${matchers}}`;
}

function ratePer(labels: string, metric: MetricRow): string {
  return `sum by (${labels}) (rate(${chosen(metric)}[$__rate_interval]))`;
}

function quantile(share: number, metric: MetricRow): string {
  return `histogram_quantile(${share}, sum by (le) (rate(${chosen(metric, "_bucket")}[$__rate_interval])))`;
}

function stat(title: string, metric: MetricRow, expr: string, bad?: Panel["bad"], unit = "short"): Panel {
  return { title, type: "stat", description: metric.help, unit, queries: [[expr, ""]], bad };
}

function lines(title: string, metric: MetricRow, queries: Panel["queries"], unit = "short", stacked = false): Panel {
  return { title, type: "timeseries", description: metric.help, unit, queries, stacked };
}

const inState = (states: string) => `sum(${chosen(workloads.workloads, "", `,state=~"${states}"`)})`;

/** All panels by row. The rows to check first during an incident are at the top. */
export const panelRows: readonly { readonly title: string; readonly panels: readonly Panel[] }[] = [
  {
    title: "Health",
    panels: [
      stat("Leaders", cluster.leader, `sum(${chosen(cluster.leader)})`, { below: 1 }),
      stat("Replicas", process.build, `count(${chosen(process.build)})`),
      stat("API server reachable", cluster.reachable, `min(${chosen(cluster.reachable)})`, { below: 1 }),
      stat("Synced", cluster.synced, `min(${chosen(cluster.synced)})`, { below: 1 }),
      stat("Waiting", workloads.workloads, inState("waiting|overLimit"), { from: 1 }),
      stat("Held", workloads.workloads, inState("held")),
      stat("Refused", workloads.workloads, inState("refused|bug"), { from: 1 }),
      stat("Halted changes", workloads.halted, `sum(${chosen(workloads.halted)})`, { from: 1 }),
    ],
  },
  {
    title: "Workloads",
    panels: [
      lines(
        "Workloads by state",
        workloads.workloads,
        [[`sum by (state) (${chosen(workloads.workloads)})`, "{{state}}"]],
        "short",
        true,
      ),
      lines(
        "Held rollouts by reason",
        workloads.held,
        [[`sum by (reason) (${chosen(workloads.held)})`, "{{reason}}"]],
        "short",
        true,
      ),
      lines(
        "Outcomes per second",
        workloads.outcomes,
        [[ratePer("outcome", workloads.outcomes), "{{outcome}}"]],
        "ops",
      ),
      lines(
        "Oldest unresolved problem",
        workloads.longest,
        [[`max by (state) (${chosen(workloads.longest)})`, "{{state}}"]],
        "s",
      ),
      lines(
        "Oldest hold",
        workloads.longestHeld,
        [[`max by (reason) (${chosen(workloads.longestHeld)})`, "{{reason}}"]],
        "s",
      ),
      lines(
        "Time from change to patch",
        workloads.duration,
        [
          [quantile(0.5, workloads.duration), "p50"],
          [quantile(0.99, workloads.duration), "p99"],
        ],
        "s",
      ),
      lines("Queue", workloads.depth, [
        [`sum(${chosen(workloads.depth)})`, "ready"],
        [`sum(${chosen(workloads.permits)})`, "waiting for a write permit"],
        [`sum(${chosen(workloads.delayed)})`, "delayed"],
      ]),
      lines("Events", workloads.failedEvents, [
        [`sum(${chosen(workloads.events)})`, "waiting"],
        [`sum(increase(${chosen(workloads.failedEvents)}[$__rate_interval]))`, "failed"],
        [`sum by (reason) (increase(${chosen(workloads.droppedEvents)}[$__rate_interval]))`, "dropped: {{reason}}"],
      ]),
    ],
  },
  {
    title: "API server",
    panels: [
      lines(
        "Requests per second",
        cluster.requests,
        [[ratePer("verb, code", cluster.requests), "{{verb}} {{code}}"]],
        "reqps",
      ),
      lines(
        "Time since the last data of a watch",
        cluster.lastHeard,
        [[`max by (resource) (${chosen(cluster.lastHeard)})`, "{{resource}}"]],
        "s",
      ),
      lines("Watch restarts", cluster.restarts, [
        [
          `sum by (resource, reason) (increase(${chosen(cluster.restarts)}[$__rate_interval]))`,
          "{{resource}} {{reason}}",
        ],
      ]),
    ],
  },
  {
    title: "Webhooks",
    panels: [
      lines("Reviews per second", webhooks.reviews, [[ratePer("outcome", webhooks.reviews), "{{outcome}}"]], "ops"),
      lines(
        "Review duration",
        webhooks.duration,
        [
          [quantile(0.5, webhooks.duration), "p50"],
          [quantile(0.99, webhooks.duration), "p99"],
        ],
        "s",
      ),
      lines(
        "Time until certificate expiry",
        webhooks.certificateExpiry,
        [[`min by (pod) (${chosen(webhooks.certificateExpiry)}) - time()`, "{{pod}}"]],
        "s",
      ),
    ],
  },
  {
    title: "Process",
    panels: [
      lines(
        "Resident memory",
        process.resident,
        [[`${chosen(process.resident)} and on (instance) ${chosen(process.build)}`, "{{pod}}"]],
        "bytes",
      ),
      lines(
        "CPU",
        process.cpu,
        [[`rate(${chosen(process.cpu)}[$__rate_interval]) and on (instance) ${chosen(process.build)}`, "{{pod}}"]],
        "percentunit",
      ),
      lines(
        "Event loop delay",
        process.eventLoopDelay,
        [[`max by (pod) (${chosen(process.eventLoopDelay)})`, "{{pod}}"]],
        "s",
      ),
      lines("Cached objects", cluster.objects, [[`max by (kind) (${chosen(cluster.objects)})`, "{{kind}}"]]),
    ],
  },
];
