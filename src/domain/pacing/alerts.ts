// The alert gate: what the alerts that fire in a namespace mean for its rollouts.
import type { Workload } from "../model/workload-shape.ts";
import type { Hold, HoldReason } from "../outcomes/outcomes.ts";
import type { PacingFlags } from "../policy/policy.ts";
import { isValidator } from "../policy/rules.ts";
import { parseCause } from "./cause.ts";
import type { DueWrite } from "./due.ts";
import { holdTexts } from "./hold-texts.ts";
import type { Moment } from "./moment.ts";
import { rolloutResult } from "./rollout-result.ts";
import { hasSoaked, lastRolloutAt } from "./rollout-time.ts";

/** Holds a rollout while an alert fires in its namespace. An alert does not hold the fix of a rollout that failed: the alert may be its effect. */
export function alert(due: DueWrite): Hold | undefined {
  const { workload, moment } = due;
  const [first] = moment.alerts?.state === "firing" ? moment.alerts.alerts : [];
  if (first === undefined || hasFailed(due)) return undefined;
  return { reason: "alert", message: holdTexts.alert(first.name, workload), until: undefined, warning: false };
}

/** Holds a rollout until Prometheus has answered whether an alert fires. */
export function alertsUnknown(due: DueWrite): Hold | undefined {
  const { alerts } = due.moment;
  if (alerts?.state !== "unknown" || hasFailed(due)) return undefined;
  const { isRequired: warning } = alerts;
  const message = warning ? holdTexts.alertsRequired : holdTexts.alertsUnknown;
  return { reason: "alertsUnknown", message, until: undefined, warning };
}

function hasFailed({ workload, rules, moment }: DueWrite): boolean {
  return rolloutResult(workload, rules.pacing, moment)?.state === "failed";
}

/** Returns what the cause of a rollout names as its last hold: an alert, if the rollout goes past one. Then the alert did not begin during the rollout. */
export function heldByOf({ alerts, heldBy }: Moment): HoldReason | undefined {
  return alerts === undefined || alerts.state === "none" ? heldBy : "alert";
}

/**
 * Returns the alert that began to fire while the last rollout of a workload was in progress or soaked; undefined if none did. If Prometheus did not
 * answer before, the alert counts unless the rollout went past an alert.
 */
export function alertSinceRollout(
  workload: Workload,
  flags: Pick<PacingFlags, "rolloutTimeoutMs" | "soakMs">,
  moment: Moment,
): string | undefined {
  const startedAt = lastRolloutAt(workload, moment);
  if (moment.alerts?.state !== "firing" || startedAt === undefined) return undefined;
  // Its Pods serve no one.
  if (isValidator(workload)) return undefined;
  if (!isTested(workload, startedAt, flags, moment)) return undefined;
  const wentPast = parseCause(workload.recordedHash, workload.cause)?.heldBy === "alert";
  return moment.alerts.alerts.find(({ since }) => (since === undefined ? !wentPast : since > startedAt))?.name;
}

/** Reports whether the last rollout of a workload is in progress or soaks. A new leader measures the soak time again, but not long after a rollout. */
function isTested(
  workload: Workload,
  startedAt: number,
  flags: Pick<PacingFlags, "rolloutTimeoutMs" | "soakMs">,
  moment: Moment,
): boolean {
  const state = rolloutResult(workload, flags, moment)?.state;
  if (state !== "complete") return state === "inProgress" || state === "stuck";
  const { progress } = workload;
  if (progress.state !== "complete" || hasSoaked(moment.completeMs ?? 0, flags.soakMs)) return false;
  const isOld = moment.now > startedAt + 2 * flags.rolloutTimeoutMs;
  if (isOld && moment.lastWrite?.hash !== workload.recordedHash) return false;
  const since = progress.since === undefined ? moment.progressSince : Math.max(startedAt, progress.since * 1000);
  return moment.now < since + flags.soakMs;
}
