import { catalogue } from "../../src/telemetry/catalogue.ts";
import type { MetricRow } from "../../src/telemetry/metrics/metric-row.ts";

/** One panel of the dashboard. */
export interface Panel {
  readonly title: string;
  readonly type: "stat" | "timeseries";
  readonly description: string;
  /** As Grafana names it. */
  readonly unit: string;
  /** PromQL, and what a line is called. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** Of a stat: from or below which number it is red; undefined: it is neither good nor bad. */
  readonly bad?: { readonly from: number } | { readonly below: number } | undefined;
  readonly stacked?: boolean;
}

const { workloads, cluster, admission, process } = catalogue;

/** A metric of the Waves that are chosen. */
function chosen({ name }: MetricRow, suffix = "", matchers = ""): string {
  return `${name}${suffix}{namespace=~"$namespace"${matchers}}`;
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

/** All panels, by the rows that they stand in: what somebody who was woken up looks at first is above. */
export const panelRows: readonly { readonly title: string; readonly panels: readonly Panel[] }[] = [
  {
    title: "Is it well?",
    panels: [
      stat("Leaders", cluster.leader, `sum(${chosen(cluster.leader)})`, { below: 1 }),
      stat("Replicas", process.build, `count(${chosen(process.build)})`),
      stat("API server reachable", cluster.reachable, `min(${chosen(cluster.reachable)})`, { below: 1 }),
      stat("Synced", cluster.synced, `min(${chosen(cluster.synced)})`, { below: 1 }),
      stat("Waiting", workloads.workloads, inState("waiting|overLimit"), { from: 1 }),
      stat("Held", workloads.workloads, inState("held")),
      stat("Refused", workloads.workloads, inState("refused|bug"), { from: 1 }),
      stat("Changes halted", workloads.halted, `sum(${chosen(workloads.halted)})`, { from: 1 }),
    ],
  },
  {
    title: "Workloads",
    panels: [
      lines(
        "By state",
        workloads.workloads,
        [[`sum by (state) (${chosen(workloads.workloads)})`, "{{state}}"]],
        "short",
        true,
      ),
      lines(
        "Held, by what holds them",
        workloads.held,
        [[`sum by (reason) (${chosen(workloads.held)})`, "{{reason}}"]],
        "short",
        true,
      ),
      lines("Outcomes a second", workloads.outcomes, [[ratePer("outcome", workloads.outcomes), "{{outcome}}"]], "ops"),
      lines(
        "Longest out of order",
        workloads.longest,
        [[`max by (state) (${chosen(workloads.longest)})`, "{{state}}"]],
        "s",
      ),
      lines(
        "Longest held",
        workloads.longestHeld,
        [[`max by (reason) (${chosen(workloads.longestHeld)})`, "{{reason}}"]],
        "s",
      ),
      lines(
        "From a change to the patch",
        workloads.duration,
        [
          [quantile(0.5, workloads.duration), "half"],
          [quantile(0.99, workloads.duration), "99 of 100"],
        ],
        "s",
      ),
      lines("Queue", workloads.depth, [
        [`sum(${chosen(workloads.depth)})`, "for a worker"],
        [`sum(${chosen(workloads.permits)})`, "for a turn"],
        [`sum(${chosen(workloads.delayed)})`, "for their time"],
      ]),
      lines("Events", workloads.failedEvents, [
        [`sum(${chosen(workloads.events)})`, "wait"],
        [`sum(increase(${chosen(workloads.failedEvents)}[$__rate_interval]))`, "failed"],
        [`sum by (reason) (increase(${chosen(workloads.droppedEvents)}[$__rate_interval]))`, "dropped: {{reason}}"],
      ]),
    ],
  },
  {
    title: "API server",
    panels: [
      lines(
        "Requests a second",
        cluster.requests,
        [[ratePer("verb, code", cluster.requests), "{{verb}} {{code}}"]],
        "reqps",
      ),
      lines(
        "Watches last heard",
        cluster.lastHeard,
        [[`max by (resource) (${chosen(cluster.lastHeard)})`, "{{resource}}"]],
        "s",
      ),
      lines("Watches begun again", cluster.restarts, [
        [
          `sum by (resource, reason) (increase(${chosen(cluster.restarts)}[$__rate_interval]))`,
          "{{resource}} {{reason}}",
        ],
      ]),
    ],
  },
  {
    title: "Admission",
    panels: [
      lines("Reviews a second", admission.reviews, [[ratePer("outcome", admission.reviews), "{{outcome}}"]], "ops"),
      lines(
        "Duration of a review",
        admission.duration,
        [
          [quantile(0.5, admission.duration), "half"],
          [quantile(0.99, admission.duration), "99 of 100"],
        ],
        "s",
      ),
      lines(
        "Certificate expires in",
        admission.certificateExpiry,
        [[`min by (pod) (${chosen(admission.certificateExpiry)}) - time()`, "{{pod}}"]],
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
      lines("Objects in the caches", cluster.objects, [[`max by (kind) (${chosen(cluster.objects)})`, "{{kind}}"]]),
    ],
  },
];
