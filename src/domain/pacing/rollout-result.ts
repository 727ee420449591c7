// How the last rollout of a workload ended, also by an alert that began to fire: an annotation keeps that failure when the alert is resolved.
import type { Progress } from "../model/kind-row.ts";
import type { Workload } from "../model/workload-shape.ts";
import type { NewPods } from "../pods/new-pods.ts";
import { type ContainerExit, describeStuck } from "../pods/observed-pod.ts";
import type { PacingFlags } from "../policy/policy.ts";
import { readPolicyValue } from "../policy/policy-rows.ts";
import { quoted } from "../syntax/names.ts";
import { formatDuration, formatTime } from "../syntax/time.ts";
import { firstDigits } from "./cause.ts";
import type { Moment } from "./moment.ts";
import { hasSoaked, isEditedSinceRollout, lastRolloutAt, resumedAfter } from "./rollout-time.ts";

/** The result of the last rollout by Wave. */
export type RolloutResult =
  | { readonly state: "complete" }
  /** `word` names the cause in one word, and `cause` is a clause for people. "stuck": a Pod does not start, which the configuration does not cause. */
  | { readonly state: "failed" | "stuck"; readonly word: string; readonly cause: string }
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
  if (alert !== undefined) return { state: "failed", word: "alert", cause: `alert ${quoted(alert)} began to fire` };
  const { newPods } = moment;
  if (newPods?.state === "restarts") {
    const { container, pod, restarts } = newPods;
    const cause = `container ${quoted(container)} of Pod ${quoted(pod)} restarted ${restarts} times`;
    return { state: "failed", word: "restarts", cause };
  }
  // Only a validator shows this: its Pods do nothing but check.
  if (newPods?.state === "exited")
    return { state: "failed", word: "exited", cause: describeExit(newPods, workload.namespace) };
  // A complete rollout that loses a Pod has not failed.
  if (progress.state === "complete" || hasSoaked(moment.completeMs ?? 0, flags.soakMs)) return { state: "complete" };
  if (newPods?.state === "stuck") return { state: "stuck", word: newPods.reason, cause: describeStuck(newPods) };
  const isOld = moment.now > startedAt + 2 * flags.rolloutTimeoutMs;
  if (progress.state === "progressing" && (progress.wasComplete || (isOld && !pending))) return undefined;
  const failsAt = rolloutDeadline(progress, Math.max(startedAt, moment.advancedAt ?? 0), flags, moment.now, newPods);
  if (moment.now < failsAt) return { state: "inProgress", failsAt };
  if (progress.state === "failed") {
    const cause = `its status reports ${progress.statusWord ?? "ProgressDeadlineExceeded"}`;
    return { state: "failed", word: progress.statusWord ?? "deadline", cause };
  }
  const cause = `no new Pod became available within ${formatDuration(flags.rolloutTimeoutMs)}`;
  return { state: "failed", word: "timeout", cause };
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

/** The facts of a workload that determine whether its last rollout failed by an alert. */
export type FailedAlertFacts = Pick<Workload, "recordedHash" | "rolledAt" | "templateEditedAt" | "templateWrite"> &
  Partial<Pick<Workload, "failedAlert" | "policy">>;

/** Limit of the name of an alert, in characters. */
export const maxAlertName = 200;

/** Returns the annotation that records that the last rollout of a workload failed because this alert began to fire. */
export function writeFailedAlert({ recordedHash = "", rolledAt }: Workload, alert: string): string {
  return `${rolloutId(recordedHash, rolledAt)} ${alert}`;
}

/**
 * Returns the alert that the annotation with this `text` records for the last rollout of a workload; undefined if there is none, or if another
 * client changed the pod template since. The annotation of an earlier rollout does not count: it has another hash or another time. Anyone who may
 * edit the workload can write it, so a name that is not printable is ignored.
 */
export function storedFailedAlert(workload: FailedAlertFacts, text = workload.failedAlert): string | undefined {
  const { recordedHash = "", rolledAt } = workload;
  const id = `${rolloutId(recordedHash, rolledAt)} `;
  if (text === undefined || isEditedSinceRollout(workload) || !text.startsWith(id)) return undefined;
  const alert = text.slice(id.length);
  return alert !== "" && alert.length <= maxAlertName && !/[\p{C}\p{Zl}\p{Zp}]/u.test(alert) ? alert : undefined;
}

/** Returns the alert by which the last rollout of a workload failed; undefined if none did, or if a person resumed the workload since. */
export function failedAlertOf(
  workload: FailedAlertFacts,
  moment: Pick<Moment, "now" | "lastWrite" | "failedAlert">,
): string | undefined {
  const alert = moment.failedAlert ?? storedFailedAlert(workload);
  if (alert === undefined) return undefined;
  const resumed = readPolicyValue("resumed", workload.policy?.resumed ?? "");
  return resumedAfter(resumed, lastRolloutAt(workload, moment) ?? 0, moment.now) ? undefined : alert;
}

function rolloutId(hash: string, rolledAt: number): string {
  return `${firstDigits(hash)} ${formatTime(rolledAt * 1000)}`;
}
