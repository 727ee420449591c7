import type { Pod } from "#kubernetes";
import { epochSeconds, hasManagedField } from "../references/field-managers.ts";
import { containersOf, startOf } from "./observed-pod.ts";

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
