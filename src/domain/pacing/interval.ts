import type { Workload } from "../model/workload-shape.ts";
import type { Hold } from "../outcomes/outcomes.ts";
import type { Warning } from "../references/warning.ts";
import { quoted } from "../syntax/names.ts";
import { formatDuration } from "../syntax/time.ts";
import type { DueWrite } from "./due.ts";
import { holdTexts } from "./hold-texts.ts";
import type { Moment } from "./moment.ts";
import { rolloutResult } from "./rollout-result.ts";
import { lastRolloutAt } from "./rollout-time.ts";

/** The wait of the second consecutive rollout, in milliseconds. It doubles with each further rollout, up to the longest wait. */
const firstWaitMs = 10_000;
const longestWaitMs = 3_600_000;

/** The time without a rollout that ends a series of consecutive rollouts, at least. */
const leastQuietMs = 600_000;

/** From this number of consecutive rollouts on, a person must find out who keeps changing the configuration. */
const flapsFrom = 7;

/** The highest number that is recorded: the wait no longer grows. */
const maxConsecutiveRollouts = 99;

/** Returns the wait after this number of consecutive rollouts, in milliseconds. */
function waitAfter(consecutiveRollouts: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (consecutiveRollouts - 1));
}

/**
 * Returns the time without a rollout that ends a series of so many consecutive rollouts, in milliseconds. It is longer than the wait, or each
 * wait would end the series. For a short series it is short: edits of a person, half an hour apart, are no series.
 */
function quietAfter(consecutiveRollouts: number): number {
  return Math.max(leastQuietMs, 2 * waitAfter(consecutiveRollouts));
}

/** Reports whether the configuration of a workload keeps changing: many consecutive rollouts, and no quiet period since. */
export function isFlapping(
  workload: Pick<Workload, "rolledAt" | "consecutiveRollouts">,
  moment: Pick<Moment, "now" | "lastWrite">,
): boolean {
  const count = lastConsecutiveRollouts(workload, moment);
  const last = lastRolloutAt(workload, moment);
  return count >= flapsFrom && last !== undefined && moment.now - last < quietAfter(count);
}

/**
 * Returns the warning about a held rollout if the configuration keeps changing, also while an edit settles: otherwise the Event would be written again after
 * each edit. `why` names what changed and who edited it.
 */
export function flapWarnings({ workload, moment, rules }: DueWrite, why: string): readonly Warning[] {
  if (rules.pacing.settleMs === 0 || !isFlapping(workload, moment)) return [];
  return [{ reason: "ConfigurationFlaps", message: flapText(why) }];
}

/** The text about configuration that keeps changing. */
export const flapText = (why: string) =>
  `Configuration keeps changing: ${why}. The time between two rollouts doubles up to ${formatDuration(longestWaitMs)}. Find the client that keeps editing the object, or stop tracking the key.`;

/** Returns the number of the next rollout in its series. Only a quiet period ends a series, so the stored state is sufficient. */
export function nextConsecutiveRollouts(
  workload: Pick<Workload, "rolledAt" | "consecutiveRollouts">,
  moment: Moment,
): number {
  const last = lastRolloutAt(workload, moment);
  const count = lastConsecutiveRollouts(workload, moment);
  if (last === undefined || moment.now - last >= quietAfter(count)) return 1;
  return Math.min(maxConsecutiveRollouts, count + 1);
}

/**
 * Holds a rollout that follows the previous one too soon, for consecutive rollouts or for `min-interval`. A failed rollout does not hold its
 * fix: each failure takes long enough to limit the rate of rollouts.
 */
export function interval({ workload, rules, moment }: DueWrite): Hold | undefined {
  const last = lastRolloutAt(workload, moment);
  if (last === undefined) return undefined;
  const consecutiveMs = rules.pacing.settleMs === 0 ? 0 : waitAfter(lastConsecutiveRollouts(workload, moment));
  const waitMs = Math.max(consecutiveMs, rules.minIntervalMs.value);
  const until = last + waitMs;
  // The clock of the API server may be ahead. Without a wait, that is no reason to hold.
  if (waitMs === 0 || moment.now >= until) return undefined;
  // A validator may fail in a second.
  const isQuick = moment.newPods?.state === "exited" && isFlapping(workload, moment);
  if (!isQuick && rolloutResult(workload, rules.pacing, moment)?.state === "failed") return undefined;
  const setBy = rules.minIntervalMs.value >= waitMs ? "min-interval" : "consecutive rollouts";
  return { reason: "interval", message: holdTexts.interval(waitMs, setBy), until, warning: false };
}

/**
 * Returns the number of the last rollout in its series. At least the number that this process wrote, whatever the
 * annotation has. The annotation may be higher: for a write of another leader, or a write of this process without a response.
 */
function lastConsecutiveRollouts(
  { consecutiveRollouts }: Pick<Workload, "consecutiveRollouts">,
  { lastWrite }: Pick<Moment, "lastWrite">,
): number {
  const stored =
    consecutiveRollouts !== undefined && /^[1-9]\d?$/.test(consecutiveRollouts) ? Number(consecutiveRollouts) : 1;
  return Math.max(stored, lastWrite?.consecutiveRollouts ?? 1);
}

/**
 * The time without a new available Pod after which a rollout is stalled, in milliseconds. So a correct edit waits at most this
 * long for a rollout that a bad edit broke. A slow rollout may be taken as stalled and is then rolled again: the latest
 * configuration is right either way.
 */
const stalledMs = 30_000;

/** Holds a rollout while the previous rollout is in progress, also one of another client whose Pods may read what is live. */
export function progressing({ workload, decision, rules: { pacing: flags }, moment }: DueWrite): Hold | undefined {
  const isUnderWay = (decision.outcome === "roll" || decision.outcome === "firstHash") && decision.underWay === true;
  const last = isUnderWay ? moment.progressSince : lastRolloutAt(workload, moment);
  if ((decision.outcome !== "roll" && !isUnderWay) || last === undefined || flags.settleMs === 0) return undefined;
  if (workload.progress.state !== "progressing" || moment.newPods?.state === "exited") return undefined;
  const until = Math.min(moment.progressSince + stalledMs, last + flags.rolloutTimeoutMs);
  if (moment.now >= until) return undefined;
  return { reason: "progressing", message: holdTexts.progressing(stalledMs), until, warning: false };
}

/** The text about a Pod that Kubernetes does not replace. */
export const rolloutBlockedText = (pod: string, namespace: string) =>
  `Pod ${quoted(pod)} blocks the rollout if it is not ready: Kubernetes replaces the Pods of this StatefulSet in order, and does not replace a Pod that is not ready. Run: kubectl delete pod ${pod} -n ${namespace}.`;

/** Returns a warning for a rollout that replaces no Pod before a person deletes the Pod that is not ready. */
export function blockedWarnings({ namespace, progress }: Workload): readonly Warning[] {
  if (progress.state !== "progressing" || progress.waitsFor === undefined) return [];
  return [{ reason: "RolloutBlocked", message: rolloutBlockedText(progress.waitsFor, namespace) }];
}

/**
 * Holds a write until the configuration has not changed for the settle time: more changes may follow, for example of objects
 * that are applied together, or the edit may be reverted. However often objects change, the wait after the first change is
 * at most ten times as long.
 */
export function settling({ rules, moment }: DueWrite): Hold | undefined {
  const { changes, now } = moment;
  const settleMs = rules.settleMs.value;
  if (changes === undefined || settleMs === 0) return undefined;
  const maxMs = 10 * settleMs;
  const until = Math.min(changes.last + settleMs, changes.first + maxMs);
  if (now >= until) return undefined;
  return { reason: "settling", message: holdTexts.settling(settleMs, maxMs), until, warning: false };
}

/** How many times Wave writes one hash while another client removes it. */
const maxWrites = 10;

/** Holds a write of a hash that another client removed. Each write waits longer, and after the last one Wave stops. */
export function reverted({ workload, decision, rules, moment: { lastWrite, now } }: DueWrite): Hold | undefined {
  if (!("hash" in decision) || lastWrite === undefined || lastWrite.hash !== decision.hash) return undefined;
  if (workload.recordedHash === decision.hash) return undefined;
  // A client that only removes fields owns none, so managedFields name the last client that edited and still owns a field.
  const { editedBy } = workload;
  const writes = lastWrite.timesReverted + 1;
  if (writes >= maxWrites) {
    const message = holdTexts.revertedTooOften(editedBy, maxWrites);
    return { reason: "reverted", message, until: undefined, warning: true };
  }
  // Without a settle time, the first removal is treated as a `kubectl rollout undo` of a person.
  const unsettledMs = writes === 1 ? 0 : waitAfter(writes - 1);
  const waitMs = rules.pacing.settleMs === 0 ? unsettledMs : waitAfter(lastWrite.consecutiveRollouts);
  const until = lastWrite.at + waitMs;
  if (now >= until) return undefined;
  return { reason: "reverted", message: holdTexts.reverted(editedBy, waitMs), until, warning: true };
}
