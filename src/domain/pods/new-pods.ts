import { type ContainerExit, type ObservedPod, type StuckReason, stuckReason, volumeReason } from "./observed-pod.ts";

/** What the Pods of the last rollout of a workload show. */
export type NewPods =
  /** They are being read, or were stuck a moment ago: they may yet show that the rollout is stuck, or start. */
  | { readonly state: "unread" }
  | ({ readonly state: "restarts" } & FailingContainer)
  /** Only of a validator. */
  | ({ readonly state: "exited" } & ContainerExit)
  | StuckPods;

/** A Pod that does not start for a reason outside of its configuration. `pod` is undefined if Kubernetes cannot create it. */
type StuckPods = { readonly state: "stuck"; readonly pod: string | undefined } & StuckReason;

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
  const ofRollout = pods.filter((pod) => isNew(pod, rollout)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const exit = rollout.ofValidator ? exitedContainer(ofRollout, rollout.now) : undefined;
  if (exit !== undefined) return { state: "exited", ...exit };
  const failing = failingContainer(pods, rollout);
  if (failing !== undefined) return { state: "restarts", ...failing };
  const unready = ofRollout.filter(({ ending, ready }) => !ending && !ready);
  if (unready.some(({ start }) => start.state === "started")) return undefined;
  for (const { name, start, createdAt } of unready) {
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

/** A container that restarts so often that the rollout of its Pod has failed. */
interface FailingContainer {
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
const restartsToFail = 3;

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
 * Returns the first container of these Pods that exited with another code than 0; undefined if none did. A container that runs again may
 * exit again in a moment. After a minute, the cause of its exit was another, such as a node that started again.
 */
function exitedContainer(pods: readonly ObservedPod[], now: number): ContainerExit | undefined {
  for (const { name, exit } of pods) {
    if (exit !== undefined && now - (exit.runsSince ?? now) < recoveredMs) return { pod: name, ...exit };
  }
  return undefined;
}

/** Reports whether Pods of an earlier rollout restart as often as those of a failed rollout. */
export function earlierPodsFail(pods: Iterable<ObservedPod>, rollout: LastRolloutPods): boolean {
  return Iterator.from(pods).some((pod) => !isNew(pod, rollout) && restartsOften(pod, rollout.now));
}

/** Reports whether a Pod is one of the last rollout. */
function isNew({ hash, createdAt }: ObservedPod, rollout: LastRolloutPods): boolean {
  return hash === rollout.hash && createdAt >= rollout.rolledAt;
}

function restartsOften({ restarts: { count }, createdAt }: ObservedPod, now: number): boolean {
  return count >= restartsToFail && now - createdAt <= count * longestPeriodMs;
}
