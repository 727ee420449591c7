import { clusterMetrics } from "./catalogue/cluster.ts";
import { notificationMetrics } from "./catalogue/notifications.ts";
import { ownerReferenceMetrics } from "./catalogue/owner-references.ts";
import { pinnedCopyMetrics } from "./catalogue/pinned-copies.ts";
import { processMetrics } from "./catalogue/process.ts";
import { webhookMetrics } from "./catalogue/webhooks.ts";
import { workloadMetrics } from "./catalogue/workloads.ts";
import type { MetricRow } from "./metrics/series.ts";

/** All metrics of `wave run`, by topic. docs/metrics.md is generated from this table. */
export const catalogue = {
  workloads: workloadMetrics,
  cluster: clusterMetrics,
  webhooks: webhookMetrics,
  ownerReferences: ownerReferenceMetrics,
  pinnedCopies: pinnedCopyMetrics,
  notifications: notificationMetrics,
  process: processMetrics,
} satisfies Readonly<Record<string, Readonly<Record<string, MetricRow>>>>;
