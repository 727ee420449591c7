import { catalogue } from "../../src/telemetry/catalogue.ts";
import type { MetricRow } from "../../src/telemetry/metrics/series.ts";

/** One panel of the dashboard. */
export interface Panel {
  readonly title: string;
  readonly type: "stat" | "timeseries";
  /** What is normal, or what to do. docs/metrics.md has the meaning of the metrics. */
  readonly description: string;
  /** Unit identifier of Grafana. */
  readonly unit: string;
  /** PromQL expressions and legends. */
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** Threshold at which a stat is red. Undefined: never. */
  readonly bad?: { readonly from: number } | { readonly below: number } | undefined;
  readonly stacked?: boolean;
}

const { workloads, cluster, webhooks, notifications, process } = catalogue;

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

function stat(title: string, description: string, expr: string, bad?: Panel["bad"], unit = "short"): Panel {
  return { title, type: "stat", description, unit, queries: [[expr, ""]], bad };
}

function lines(title: string, description: string, queries: Panel["queries"], unit = "short", stacked = false): Panel {
  return { title, type: "timeseries", description, unit, queries, stacked };
}

const inState = (states: string) => `sum(${chosen(workloads.workloads, "", `,state=~"${states}"`)})`;

/** All panels by row. The rows to check first during an incident are at the top. */
export const panelRows: readonly { readonly title: string; readonly panels: readonly Panel[] }[] = [
  {
    title: "Health",
    panels: [
      stat(
        "Leaders",
        "Normally 1. With 0, Wave rolls nothing: check its Pods and its Lease.",
        `sum(${chosen(cluster.leader)})`,
        { below: 1 },
      ),
      stat("Replicas", "Replicas that Prometheus scrapes.", `count(${chosen(process.build)})`),
      stat(
        "API server reachable",
        "0 if a replica gets no answer: check its log for the address and the error.",
        `min(${chosen(cluster.reachable)})`,
        { below: 1 },
      ),
      stat(
        "Synced",
        "0 when a replica starts. If it stays 0, a permission is usually missing: run wave doctor.",
        `min(${chosen(cluster.synced)})`,
        { below: 1 },
      ),
      stat(
        "Failed or stuck",
        "New Pods are not ready in time, or do not start. Run wave list -A --state failed,stuck.",
        `sum(${chosen(workloads.failed)}) + sum(${chosen(workloads.stuck)})`,
        { from: 1 },
      ),
      stat(
        "Halted changes",
        "Workloads failed after these changes, so the others keep their Pods. Run wave list -A --state failed,held.",
        `sum(${chosen(workloads.halted)})`,
        { from: 1 },
      ),
      stat(
        "Waiting",
        "A required object is missing, or a limit is exceeded. Run wave list -A --state waiting,overLimit.",
        inState("waiting|overLimit"),
        { from: 1 },
      ),
      stat("Held", "Rollouts that are due. The panel of held rollouts has the reasons.", inState("held")),
      stat(
        "Refused",
        "Writes that the API server rejected. The Warning Events of the workloads have the cause.",
        inState("refused|bug"),
        { from: 1 },
      ),
      stat(
        "Every rollout held",
        "1 if a person holds every rollout. To end the hold, run wave release --cluster.",
        `max(${chosen(cluster.clusterHold)})`,
        { from: 1 },
      ),
      stat(
        "Only observes",
        "1 if a Wave runs with --observe, which rolls nothing.",
        `max(${chosen(workloads.onlyObserves)})`,
      ),
      stat(
        "Failed notifications",
        "Lost notifications of the last hour. The log names the receiver and the error.",
        `sum(increase(${chosen(notifications.notifications, "", ',result!="sent"')}[1h])) or vector(0)`,
        { from: 1 },
      ),
    ],
  },
  {
    title: "Workloads",
    panels: [
      lines(
        "Workloads by state",
        "Normally, almost all workloads are current.",
        [[`sum by (state) (${chosen(workloads.workloads)})`, "{{state}}"]],
        "short",
        true,
      ),
      lines(
        "Held rollouts by reason",
        "Settling, interval, progressing and batch end without a person. People requested hold, approval and window.",
        [[`sum by (reason) (${chosen(workloads.held)})`, "{{reason}}"]],
        "short",
        true,
      ),
      lines(
        "Outcomes per second",
        "A peak of roll follows a change that many workloads read. Refused, unavailable and bug are failures.",
        [[ratePer("outcome", workloads.outcomes), "{{outcome}}"]],
        "ops",
      ),
      lines(
        "Oldest unresolved problem",
        "The line grows until the oldest problem of this state is solved.",
        [[`max by (state) (${chosen(workloads.longest)})`, "{{state}}"]],
        "s",
      ),
      lines(
        "Oldest hold",
        "An hour is too long for a hold that ends without a person.",
        [[`max by (reason) (${chosen(workloads.longestHeld)})`, "{{reason}}"]],
        "s",
      ),
      lines(
        "Time from change to patch",
        "Includes the settle time, by default 1 s. Rollouts that waited for a person or a window are not included.",
        [
          [quantile(0.5, workloads.duration), "p50"],
          [quantile(0.99, workloads.duration), "p99"],
        ],
        "s",
      ),
      lines("Queue", "If many workloads wait for a write permit for a long time, raise --update-rate.", [
        [`sum(${chosen(workloads.depth)})`, "ready"],
        [`sum(${chosen(workloads.permits)})`, "waiting for a write permit"],
        [`sum(${chosen(workloads.delayed)})`, "delayed"],
      ]),
      lines("Events", "Normally 0. A namespace without room for Events rejects them.", [
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
        "Many responses 429 or 5xx show an overloaded API server.",
        [[ratePer("verb, code", cluster.requests), "{{verb}} {{code}}"]],
        "reqps",
      ),
      lines(
        "Time since the last data of a watch",
        "Normally about a minute at most, because the API server sends bookmarks.",
        [[`max by (resource) (${chosen(cluster.lastHeard)})`, "{{resource}}"]],
        "s",
      ),
      lines(
        "Watch restarts",
        "Many restarts with the reason connection or refused show a network problem or a missing permission.",
        [
          [
            `sum by (resource, reason) (increase(${chosen(cluster.restarts)}[$__rate_interval]))`,
            "{{resource}} {{reason}}",
          ],
        ],
      ),
    ],
  },
  {
    title: "Webhooks",
    panels: [
      lines(
        "Reviews per second",
        "In reviews with the outcome unread, Wave could not read the configuration in time.",
        [[ratePer("outcome", webhooks.reviews), "{{outcome}}"]],
        "ops",
      ),
      lines(
        "Review duration",
        "The API server waits for each review, by default at most 5 s.",
        [
          [quantile(0.5, webhooks.duration), "p50"],
          [quantile(0.99, webhooks.duration), "p99"],
        ],
        "s",
      ),
      lines(
        "Time until certificate expiry",
        "Below three days, the renewal failed: check the log.",
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
        "Compare with the memory limit of the container.",
        [[`${chosen(process.resident)} and on (instance) ${chosen(process.build)}`, "{{pod}}"]],
        "bytes",
      ),
      lines(
        "CPU",
        "Peaks are normal at the start, and after a change that many workloads read.",
        [[`rate(${chosen(process.cpu)}[$__rate_interval]) and on (instance) ${chosen(process.build)}`, "{{pod}}"]],
        "percentunit",
      ),
      lines(
        "Event loop delay",
        "Above 1 s, Wave waited for the CPU, or read a very large object.",
        [[`max by (pod) (${chosen(process.eventLoopDelay)})`, "{{pod}}"]],
        "s",
      ),
      lines("Cached objects", "Grows with the number of objects in the watched namespaces.", [
        [`max by (kind) (${chosen(cluster.objects)})`, "{{kind}}"],
      ]),
    ],
  },
];
