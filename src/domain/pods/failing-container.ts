import type { ContainerExit, ObservedPod } from "./observed-pod.ts";

/** A container that restarts so often that the rollout of its Pod has failed. */
export interface FailingContainer {
  readonly pod: string;
  readonly container: string;
  readonly restarts: number;
}

/** Which Pods are those of the last rollout. */
export interface LastRolloutPods {
  /** The hash in the pod template. */
  readonly hash: string | undefined;
  /** When Wave last wrote the workload, in milliseconds since the epoch. The API has whole seconds. */
  readonly rolledAt: number;
  readonly now: number;
  /** Whether they are Pods of a validator: one exit is a failure. Default: no. */
  readonly ofValidator?: boolean;
}

/** This many restarts of one container since its Pod began are a failure. */
export const restartsToFail = 3;

/** A container that restarts less often, on average, does not fail. Kubernetes waits at most 5 minutes before a restart. */
const longestPeriodMs = 10 * 60_000;

/**
 * Returns the container of the last rollout that restarts most, if it restarts so often that the rollout has failed; undefined if none does,
 * or if Pods of an earlier rollout restart as often. Then the restarts show nothing about the configuration.
 */
export function failingContainer(pods: Iterable<ObservedPod>, rollout: LastRolloutPods): FailingContainer | undefined {
  let most: FailingContainer | undefined;
  for (const pod of pods) {
    if (!restartsOften(pod, rollout.now)) continue;
    if (!isNew(pod, rollout)) return undefined;
    const { container, count } = pod.restarts;
    if (!pod.ending && count > (most?.restarts ?? 0)) most = { pod: pod.name, container, restarts: count };
  }
  return most;
}

/** A container that has run for so long after its exit has checked again, and passed. */
const recoveredMs = 60_000;

/**
 * Returns the first container of the last rollout that exited with another code than 0; undefined if none did. A container that runs again may
 * exit again in a moment. After a minute, the cause of its exit was another, such as a node that started again.
 */
export function exitedContainer(pods: readonly ObservedPod[], rollout: LastRolloutPods): ContainerExit | undefined {
  const inOrder = pods.filter((pod) => isNew(pod, rollout)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, exit } of inOrder) {
    if (exit !== undefined && rollout.now - (exit.runsSince ?? rollout.now) < recoveredMs)
      return { pod: name, ...exit };
  }
  return undefined;
}

/** Reports whether Pods of an earlier rollout restart as often as those of a failed rollout. */
export function earlierPodsFail(pods: Iterable<ObservedPod>, rollout: LastRolloutPods): boolean {
  return Iterator.from(pods).some((pod) => !isNew(pod, rollout) && restartsOften(pod, rollout.now));
}

/** Reports whether a Pod is one of the last rollout. */
export function isNew({ hash, createdAt }: ObservedPod, rollout: LastRolloutPods): boolean {
  return hash === rollout.hash && createdAt >= rollout.rolledAt;
}

function restartsOften({ restarts: { count }, createdAt }: ObservedPod, now: number): boolean {
  return count >= restartsToFail && now - createdAt <= count * longestPeriodMs;
}
