import type { Progress } from "../model/kind-row.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { NewPods } from "../pods/new-pods.ts";
import { type ContainerExit, describeStuck } from "../pods/observed-pod.ts";
import type { PacingFlags } from "../policy/policy.ts";
import { quoted } from "../syntax/names.ts";
import { formatDuration } from "../syntax/time.ts";
import { type FailedAlertFacts, failedAlertOf } from "./failed-alert.ts";
import type { Moment } from "./moment.ts";
import { hasSoaked, isEditedSinceRollout, lastRolloutAt } from "./rollout-time.ts";

/** The result of the last rollout by Wave. */
export type RolloutResult =
  | { readonly state: "complete" }
  /** `cause` is a clause for people. */
  | { readonly state: "failed"; readonly cause: string }
  /** A Pod does not start, which the configuration does not cause. `cause` is a clause for people. */
  | { readonly state: "stuck"; readonly cause: string }
  /** It fails at this time if it makes no more progress, in milliseconds since the epoch; infinity: never by time alone. */
  | { readonly state: "inProgress"; readonly failsAt: number };

/**
 * Returns the result of the last rollout by Wave. Undefined if there is none: Wave has not rolled the workload, another client changed its
 * pod template later, or the rollout replaces no Pod. Undefined also for a rollout of long ago that is not `pending`: a lost Pod looks like a
 * rollout in progress. `pending`: whether more than its Pods shows that the rollout had not ended. Default: this process wrote it.
 */
export function rolloutResult(
  workload: Pick<Workload, "namespace" | "progress"> & FailedAlertFacts,
  flags: Pick<PacingFlags, "rolloutTimeoutMs" | "soakMs">,
  moment: Moment,
  pending = moment.lastWrite?.hash === workload.recordedHash,
): RolloutResult | undefined {
  const { progress } = workload;
  const startedAt = lastRolloutAt(workload, moment);
  if (startedAt === undefined || progress.state === "idle" || isEditedSinceRollout(workload)) return undefined;
  const alert = failedAlertOf(workload, moment);
  if (alert !== undefined) return { state: "failed", cause: `alert ${quoted(alert)} began to fire` };
  const { newPods } = moment;
  if (newPods?.state === "restarts") {
    const { container, pod, restarts } = newPods;
    return {
      state: "failed",
      cause: `container ${quoted(container)} of Pod ${quoted(pod)} restarted ${restarts} times`,
    };
  }
  // Only a validator shows this: its Pods do nothing but check.
  if (newPods?.state === "exited") return { state: "failed", cause: describeExit(newPods, workload.namespace) };
  // A complete rollout that loses a Pod has not failed.
  if (progress.state === "complete" || hasSoaked(moment.completeMs ?? 0, flags.soakMs)) return { state: "complete" };
  if (newPods?.state === "stuck") return { state: "stuck", cause: describeStuck(newPods) };
  const isOld = moment.now > startedAt + 2 * flags.rolloutTimeoutMs;
  if (progress.state === "progressing" && (progress.wasComplete || (isOld && !pending))) return undefined;
  const failsAt = rolloutDeadline(progress, Math.max(startedAt, moment.advancedAt ?? 0), flags, moment.now, newPods);
  if (moment.now < failsAt) return { state: "inProgress", failsAt };
  if (progress.state === "failed")
    return { state: "failed", cause: `its status reports ${progress.statusWord ?? "ProgressDeadlineExceeded"}` };
  return { state: "failed", cause: `no new Pod became available within ${formatDuration(flags.rolloutTimeoutMs)}` };
}

/** Returns the exit of a container as a clause, with the command that shows its log. */
export function describeExit({ pod, container, exitCode }: ContainerExit, namespace: string): string {
  return `container ${quoted(container)} of Pod ${quoted(pod)} exited with code ${exitCode} (kubectl logs ${pod} -c ${container} -n ${namespace})`;
}

/** How long a rollout that is over its deadline is taken as in progress while its Pods are read, in milliseconds. */
const readingMs = 10_000;

/**
 * Returns when a rollout that is not complete fails if it makes no more progress, in milliseconds since the epoch: 0 if its controller reports the failure, infinity if its
 * controller has its own deadline. It does not fail before its Pods are read, if they are going to be.
 */
export function rolloutDeadline(
  progress: Extract<Progress, { readonly state: "progressing" | "failed" }>,
  lastProgress: number,
  { rolloutTimeoutMs }: Pick<PacingFlags, "rolloutTimeoutMs">,
  now: number,
  newPods: NewPods | undefined,
): number {
  const deadline =
    progress.state === "failed" ? 0 : progress.selfTimed ? Number.POSITIVE_INFINITY : lastProgress + rolloutTimeoutMs;
  return newPods?.state === "unread" ? Math.max(deadline, now + readingMs) : deadline;
}
