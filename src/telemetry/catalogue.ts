import { clusterMetrics } from "./catalogue/cluster.ts";
import { notificationMetrics } from "./catalogue/notifications.ts";
import { ownershipMetrics } from "./catalogue/owner-references.ts";
import { processMetrics } from "./catalogue/process.ts";
import { admissionMetrics } from "./catalogue/webhooks.ts";
import { workloadMetrics } from "./catalogue/workloads.ts";
import type { MetricRow } from "./metrics/metric-row.ts";

/** All metrics of `wave run`, by what they tell of: the one table, from which docs/metrics.md is made. */
export const catalogue = {
  workloads: workloadMetrics,
  cluster: clusterMetrics,
  admission: admissionMetrics,
  ownership: ownershipMetrics,
  notifications: notificationMetrics,
  process: processMetrics,
} satisfies Readonly<Record<string, Readonly<Record<string, MetricRow>>>>;
