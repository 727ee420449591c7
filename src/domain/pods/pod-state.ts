import type { Pod } from "#kubernetes";
import { epochSeconds, hasManagedField } from "../references/field-managers.ts";
import { containersOf, type ObservedPod, type PodRead, startOf } from "./observed-pod.ts";
import { endOf, openSpanOf, type Span } from "./spans.ts";

/** What is known about the configuration of a workload over time. Times are in milliseconds since the epoch. */
export interface ReadHistory {
  /** The hash in the pod template. Pods with another hash belong to another rollout. */
  readonly hash: string | undefined;
  /** The spans in which the live configuration differed from that of the hash. */
  readonly spans: readonly Span[];
  /** When the configuration that Pods read last changed; undefined if that is not known. */
  readonly changedAt: number | undefined;
  /** When Wave last wrote the workload; 0 if never. Pods that were created later do not concern spans that ended before. */
  readonly rolledAt: number;
}

/**
 * How exactly the time of a read is known, in milliseconds. Clocks of nodes and of the API server differ by some seconds, and the API has
 * whole seconds. A volume that is set up already shows a change later, after up to the sync period of the kubelet (1 min) plus the delay of
 * its cache (1 min): https://kubernetes.io/docs/concepts/configuration/configmap/#mounted-configmaps-are-updated-automatically.
 */
export const readMargins = { clocksMs: 5_000, filesMs: 120_000 } as const;

/**
 * Returns what a Pod runs. "current": it has read the live configuration. "old": it has read the configuration of an earlier time. "mixed": it
 * may have read something in between, or a part of each.
 */
export function configStateOf(pod: ObservedPod, history: ReadHistory): "current" | "old" | "mixed" {
  const { reads, liveObjects } = pod;
  // All its containers still wait: they read the live configuration when they start.
  if (liveObjects.length > 0 && reads.length === 0) return "current";
  const differs = openSpanOf(history.spans) !== undefined;
  const hasHash = pod.hash === history.hash;
  if ((!hasHash || differs) && sawLastChange(pod, history.changedAt)) return "current";
  if (!hasHash) return "old";
  const spans = history.spans.filter((span) => concerns(span, pod, history.rolledAt));
  if (reads.some((read) => spans.some((span) => mayBeIn(span, read, pod)))) return "mixed";
  return differs ? "old" : "current";
}

/** Reports whether a span may concern a Pod: not if it ended before a rollout, and the Pod was created after the rollout. */
function concerns(span: Span, { createdAt }: ObservedPod, rolledAt: number): boolean {
  const isBefore = span.from < rolledAt && endOf(span) <= rolledAt + readMargins.clocksMs;
  return !(isBefore && createdAt >= rolledAt);
}

/** Reports whether every container of a Pod started so late that it has read the last change. */
function sawLastChange({ reads, volumesAt }: ObservedPod, changedAt: number | undefined): boolean {
  if (changedAt === undefined || reads.length === 0) return false;
  return reads.every(({ by, at }) => at > changedAt + marginAfter(by, volumesAt, changedAt));
}

/** Reports whether a read may have seen what was live in a span. */
function mayBeIn(span: Span, { by, at }: PodRead, { volumesAt }: ObservedPod): boolean {
  const end = endOf(span);
  return at >= span.from - readMargins.clocksMs && at <= end + marginAfter(by, volumesAt, end);
}

/** Returns how long after a change a read may see what was before. A volume that is set up later shows the change at once. */
function marginAfter(by: PodRead["by"], volumesAt: number, changedAt: number): number {
  const isRefreshed = by === "files" && volumesAt <= changedAt + readMargins.clocksMs;
  return isRefreshed ? readMargins.filesMs : readMargins.clocksMs;
}

/** When Pods have read configuration, at the earliest. In seconds since the epoch. */
export interface PodTimes {
  /** When a Pod got its node: it reads nothing before. Infinity: it has none yet. */
  readonly scheduledAt: number;
  /**
   * When a container that reads environment variables of ConfigMaps or Secrets started last. Infinity: none reads any. 0: one has not started, so
   * that the API does not show when it reads.
   */
  readonly envAt: number;
}

const anyObject = { includes: () => true, byEachContainer: false };

/** Returns the times of a Pod. */
export function podTimes(pod: Pick<Pod, "metadata" | "spec" | "status">): PodTimes {
  const containers = pod.spec === undefined ? [] : containersOf(pod, pod.spec, anyObject);
  const env = containers.filter(({ reads }) => reads.some(({ by }) => by === "env"));
  const starts = env.map(({ status }) => Math.floor((startOf(status) ?? 0) / 1000));
  return { scheduledAt: scheduledAt(pod), envAt: Math.min(...starts) };
}

/** Returns the earliest times of Pods. */
export function earliest(a: PodTimes | undefined, b: PodTimes): PodTimes {
  if (a === undefined) return b;
  return { scheduledAt: Math.min(a.scheduledAt, b.scheduledAt), envAt: Math.min(a.envAt, b.envAt) };
}

/** The API server sets the time of a binding. A kubelet, whose clock may be ahead, sets that of a Pod that was created with a node. */
function scheduledAt({ metadata = {}, spec, status }: Pick<Pod, "metadata" | "spec" | "status">): number {
  if (!spec?.nodeName) return Number.POSITIVE_INFINITY;
  const createdAt = epochSeconds(metadata.creationTimestamp);
  if (hasManagedField(metadata, ["spec", "nodeName"])) return createdAt;
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  return scheduled?.status === "True" ? Math.max(createdAt, epochSeconds(scheduled.lastTransitionTime)) : createdAt;
}
