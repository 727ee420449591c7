import {
  earlierPodsFail,
  exitedContainer,
  type FailingContainer,
  failingContainer,
  isNew,
  type LastRolloutPods,
} from "./failing-container.ts";
import type { ContainerExit, ObservedPod } from "./observed-pod.ts";
import { type StuckReason, stuckReason, volumeReason } from "./stuck-reason.ts";

/** What the Pods of the last rollout of a workload show. */
export type NewPods =
  /** They are being read, so that they may yet show that the rollout is stuck. */
  | { readonly state: "unread" }
  | ({ readonly state: "restarts" } & FailingContainer)
  /** Only of a validator. */
  | ({ readonly state: "exited" } & ContainerExit)
  | StuckPods;

/** A Pod that does not start for a reason outside of its configuration. `pod` is undefined if Kubernetes cannot create it. */
export type StuckPods = { readonly state: "stuck"; readonly pod: string | undefined } & StuckReason;

/** A rollout is not stuck for this time, in milliseconds: a new node may be on its way. */
export const stuckAfterMs = 30_000;

/**
 * Returns what the Pods of the last rollout show; undefined if they show neither restarts nor that it is stuck. A new Pod that has started and is not ready
 * may be so because of its configuration: then nothing is stuck. `refused` is why the API server rejects Pods of the workload.
 */
export function newPodsOf(
  pods: readonly ObservedPod[],
  rollout: LastRolloutPods,
  refused: StuckReason | undefined,
): NewPods | undefined {
  const exit = rollout.ofValidator ? exitedContainer(pods, rollout) : undefined;
  if (exit !== undefined) return { state: "exited", ...exit };
  const failing = earlierPodsFail(pods, rollout) ? undefined : failingContainer(pods, rollout);
  if (failing !== undefined) return { state: "restarts", ...failing };
  const unready = pods.filter((pod) => isNew(pod, rollout) && !pod.ending && !pod.ready);
  if (unready.some(({ start }) => start.state === "started")) return undefined;
  for (const { name, start, createdAt } of unready.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (start.state === "stuck" && rollout.now - createdAt >= stuckAfterMs) return { ...start, pod: name };
  }
  if (refused === undefined || unready.length > 0 || rollout.now - rollout.rolledAt < stuckAfterMs) return undefined;
  return { state: "stuck", pod: undefined, ...refused };
}

/** Returns a Pod that waits for a volume with the message of the Event about it. */
export function withVolumeReason(pod: ObservedPod, message: string): ObservedPod {
  return { ...pod, start: { state: "stuck", ...stuckReason(volumeReason, message) } };
}

/** Reports whether a Pod may wait for a volume that is not attached: it has a node, and none of its containers starts. */
export function mayWaitForVolume({ start, createdAt }: ObservedPod, now: number): boolean {
  return start.state === "starting" && start.isScheduled && now - createdAt >= stuckAfterMs;
}
