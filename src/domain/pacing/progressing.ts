import type { Workload } from "../model/workload.ts";
import type { Hold } from "../outcomes/outcomes.ts";
import type { Warning } from "../references/warning.ts";
import { quoted } from "../syntax/wording.ts";
import type { DueWrite } from "./due.ts";
import { holdTexts } from "./hold-texts.ts";
import { lastRolloutAt } from "./rollout-time.ts";

/**
 * The time without a new available Pod after which a rollout is stalled, in milliseconds. So a correct edit waits at most this
 * long for a rollout that a bad edit broke. A slow rollout may be taken as stalled and is then rolled again: the latest
 * configuration is right either way.
 */
const stalledMs = 30_000;

/** Holds a rollout while the previous rollout is in progress, also one of another client whose Pods may read what is live. */
export function progressing({ workload, decision, flags, moment }: DueWrite): Hold | undefined {
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
