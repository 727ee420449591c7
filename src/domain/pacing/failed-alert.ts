// The rollout that failed because an alert began to fire: an annotation of the workload, so that it stays failed when the alert is resolved.
import type { Workload } from "../model/workload-shape.ts";
import { readPolicyValue } from "../policy/policy-rows.ts";
import type { Moment } from "./moment.ts";
import { digitsOf } from "./requested-holds.ts";
import { isEditedSinceRollout, lastRolloutAt, resumedAfter } from "./rollout-time.ts";

/** The facts of a workload that determine whether its last rollout failed by an alert. */
export type FailedAlertFacts = Pick<Workload, "recordedHash" | "rolledAt" | "templateEditedAt" | "templateWrite"> &
  Partial<Pick<Workload, "failedAlert" | "policy">>;

/** The digits of the hash that the annotation repeats, and the most characters of the name of an alert. */
const hashDigits = 16;

/** Limit of the name of an alert, in characters. */
export const maxAlertName = 200;

/** Returns the annotation that records that the last rollout of a workload failed because this alert began to fire. */
export function writeFailedAlert({ recordedHash = "", rolledAt }: Workload, alert: string): string {
  return `${rolloutId(recordedHash, rolledAt)} ${alert}`;
}

/**
 * Returns the alert that is recorded for the last rollout of a workload; undefined if there is none. The annotation of an earlier rollout does not
 * count: it has another hash or another time. Anyone who may edit the workload can write it, so a name that is not printable is ignored.
 */
export function storedFailedAlert(workload: FailedAlertFacts): string | undefined {
  return alertIn(workload.failedAlert, workload);
}

/** Returns the alert in the text of the annotation; undefined as for {@link storedFailedAlert}, or if another client changed the pod template since. */
export function alertIn(text: string | undefined, workload: FailedAlertFacts): string | undefined {
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
  return `${digitsOf(hash).slice(0, hashDigits)} ${new Date(rolledAt * 1000).toISOString().replace(".000Z", "Z")}`;
}
