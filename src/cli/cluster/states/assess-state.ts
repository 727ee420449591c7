// This folder names the state of a workload from what was read. It makes no request.

import type { UnprovenTimes } from "../../../domain/config/hash.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { Hold } from "../../../domain/outcomes/outcomes.ts";
import { describeExit, failedAlertOf } from "../../../domain/pacing/rollout-result.ts";
import { podsOfRollout } from "../../../domain/pacing/validator.ts";
import { pinTexts } from "../../../domain/pinning/pin-request.ts";
import { unprovenText } from "../../../domain/plan/evidence.ts";
import type { PublishedVerdict } from "../../../domain/plan/verdict.ts";
import { type NewPods, newPodsOf } from "../../../domain/pods/new-pods.ts";
import { describeStuck, quotaReason } from "../../../domain/pods/observed-pod.ts";
import { desiredPods } from "../../../domain/pods/pod-owner.ts";
import type { PacingFlags } from "../../../domain/policy/policy.ts";
import { formatList, quoted, waveArguments } from "../../../domain/syntax/names.ts";
import { sentences } from "../../output/sentences.ts";
import type { PodCount, ReadPods, RunningPod } from "../read/pods.ts";
import type { PodPinning } from "./pod-pinning.ts";
import {
  conditionsOf,
  isStateName,
  type KubernetesReason,
  kubernetesWord,
  type WorkloadStateName,
  workloadStates,
} from "./state-rows.ts";

/** The state of a workload, with its cause. */
export interface AssessedState {
  readonly state: WorkloadStateName;
  /** The cause as one word; "" if the state needs none. */
  readonly because: string;
  /** The cause as one line for people; "" if the reason of the plan already gives it. */
  readonly message: string;
  /** Start of the state as the API shows it, in milliseconds since the epoch. */
  readonly since: number | undefined;
}

/** The input of {@link assessState}. */
export interface StateFacts {
  readonly object: WorkloadObject;
  readonly workload: Workload;
  readonly outcome: string;
  readonly reason: string;
  readonly hold: Pick<Hold, "reason" | "message"> | null;
  /** The first ConfigMap or Secret that could not be read. */
  readonly unread: string | undefined;
  readonly pods: ReadPods;
  readonly podCount: PodCount | undefined;
  readonly pinning: PodPinning | null;
  readonly rolledBack: readonly string[];
  /** The verdict of the leader, if the state depends on something that could not be read; undefined also if it is current. */
  readonly verdict?: PublishedVerdict | undefined;
  /** Set if nothing shows that the Pods read the recorded configuration. */
  readonly unproven: UnprovenTimes | undefined;
  /** The last change before the last rollout, as a sentence; "" if it is unknown. */
  readonly lastChange: string;
  readonly kubernetes: KubernetesReason | null;
  /** Since when the workload is due, in milliseconds since the epoch; undefined if unknown. */
  readonly dueSince: number | undefined;
  readonly flags: PacingFlags;
  readonly now: number;
}

/** Returns the state of a workload. An action that is due comes first; otherwise the progress of the last rollout decides. */
export function assessState(facts: StateFacts): AssessedState {
  const { outcome, hold, reason, dueSince, verdict } = facts;
  if (verdict !== undefined && isStateName(verdict.state)) {
    const { state, since } = verdict;
    return { state, because: verdict.reason, message: hold?.message ?? workloadStates[state].means, since };
  }
  switch (outcome) {
    case "current":
      return assessRollout(facts);
    case "held": {
      // A Pod that reads live configuration reads the change that is held.
      const message = sentences(hold?.message ?? reason, ...(facts.pinning?.why ?? []));
      return { state: "held", because: hold?.reason ?? "", message, since: dueSince };
    }
    case "waiting":
      return { state: "waiting", because: "missing", message: reason, since: undefined };
    case "overLimit":
      return { state: "overLimit", because: "limit", message: reason, since: undefined };
    case "ignore":
      return {
        state: "ignored",
        because: becauseIgnored(facts.workload),
        message: reason,
        since: undefined,
      };
    case "unknown":
      return { state: "unknown", because: facts.unread ?? "key", message: reason, since: undefined };
    default:
      return { state: "due", because: outcome, message: reason, since: dueSince };
  }
}

/** Returns why Wave ignores a workload, as a word. */
function becauseIgnored({ deleting, optIn, templateSource }: Workload): string {
  if (deleting) return "deleting";
  if (optIn.state !== "in") return optIn.state === "unclear" ? "unclear" : "optedOut";
  return templateSource !== undefined && templateSource.generation === undefined ? "noTemplate" : "notWatched";
}

type RolloutFacts = Pick<StateFacts, "object" | "workload" | "pods" | "flags" | "now"> &
  Partial<Pick<StateFacts, "kubernetes">>;

/** Returns why the last rollout of a workload failed, as a word and a sentence; undefined if it did not fail. */
export function rolloutFailure(
  facts: RolloutFacts,
  newPods = newPodsNow(facts.workload, facts),
): { readonly word: string | undefined; readonly why: string } | undefined {
  const { object, workload, pods, flags, now } = facts;
  const { progress, rolledAt } = workload;
  const alert = failedAlertOf(workload, { now, lastWrite: undefined });
  if (alert !== undefined) return { word: "alert", why: `Alert ${quoted(alert)} began to fire` };
  if (newPods?.state === "restarts")
    return {
      word: undefined,
      why: `Container ${quoted(newPods.container)} of Pod ${quoted(newPods.pod)} restarted ${newPods.restarts} times`,
    };
  if (newPods?.state === "exited")
    return {
      word: undefined,
      why: describeExit(newPods, workload.namespace).replace(/^c/, "C"),
    };
  if (newPods?.state === "stuck" && progress.state !== "complete") return undefined;
  if (progress.state === "failed") {
    const { statusWord: word = "deadline" } = progress;
    return { word, why: word === "deadline" ? "Progress deadline exceeded" : `The status reports ${word}` };
  }
  if (progress.state !== "progressing" || rolledAt === 0 || progress.selfTimed) return undefined;
  if (timeOf(pods, now) - rolloutProgressSince(object, workload, pods) < flags.rolloutTimeoutMs) return undefined;
  return { word: "timeout", why: "No new Pod became ready within --rollout-timeout" };
}

/** Assesses the last rollout of a workload for which nothing is due. */
function assessRollout(facts: StateFacts): AssessedState {
  const { object, workload, pods, podCount, kubernetes } = facts;
  const { progress } = workload;
  const since = workload.rolledAt === 0 ? undefined : workload.rolledAt * 1000;
  const word = kubernetesWord(kubernetes);
  const count = podCount === undefined ? "" : `${describePodCount(podCount)}.`;
  const newPods = newPodsNow(workload, facts);
  const failure = rolloutFailure(facts, newPods);
  if (failure !== undefined) {
    const because = word ?? failure.word ?? podCount?.notReadyReasons[0] ?? "restarts";
    return { state: "failed", because, message: sentences(failure.why, count, facts.lastChange), since };
  }
  if (newPods?.state === "stuck" && (progress.state === "progressing" || progress.state === "failed")) {
    // The caller adds the reason of Kubernetes for Pods that it cannot create.
    const why = newPods.pod === undefined ? "Kubernetes creates no new Pod" : describeStuck(newPods);
    return { state: "stuck", because: newPods.reason, message: sentences(why, count, facts.lastChange), since };
  }
  if (progress.state === "progressing") {
    return {
      state: "rolling",
      because: word ?? podCount?.notReadyReasons[0] ?? "",
      message: sentences("Pods are being replaced", count),
      since,
    };
  }
  if (facts.unproven !== undefined) {
    const message = unprovenText(facts.unproven, waveArguments(workload));
    return { state: "unproven", because: "", message, since };
  }
  if (!workload.strategy.podsCarryHash) return currentState(facts, since);
  if (podCount === undefined) {
    const why = pods.state === "unread" ? `: ${pods.why}` : "";
    return { state: "unknown", because: "pods", message: sentences(`Cannot read the Pods${why}`), since: undefined };
  }
  const wanted = desiredPods(object);
  // A blueGreen Rollout keeps its previous Pods for a while.
  const keepsOthers = progress.state === "complete" && wanted > 0 && podCount.current >= wanted;
  if (keepsOthers || (podCount.current === podCount.total && podCount.total >= wanted)) {
    const at =
      progress.state !== "complete" || progress.since === undefined
        ? since
        : Math.max(progress.since * 1000, since ?? 0);
    return currentState(facts, at);
  }
  const { by: because = "pods", setting = "" } = workload.keptPods ?? {};
  const lacking = podCount.total < wanted ? `The workload needs ${wanted} ${wanted === 1 ? "Pod" : "Pods"}` : "";
  const message = sentences(describePodCount(podCount), lacking, setting);
  return { state: "behind", because: word ?? because, message, since };
}

/** Returns the state of a workload whose Pods all have the current hash: they may read other content than is stored. */
function currentState({ rolledBack, pinning, podCount }: StateFacts, since: number | undefined): AssessedState {
  if (rolledBack.length > 0)
    return { state: "rolledBack", because: "", message: pinTexts.rolledBack(rolledBack), since };
  const { unpinned = 0, partlyPinned = 0, why = [] } = pinning ?? {};
  const isUnready = podCount !== undefined && podCount.ready < podCount.total;
  const pinned = unpinned > 0 ? "unpinned" : partlyPinned > 0 ? "partlyPinned" : "";
  const because = isUnready ? (podCount.notReadyReasons[0] ?? "notReady") : pinned;
  return { state: "current", because, message: sentences(isUnready ? describePodCount(podCount) : "", ...why), since };
}

/** How many reasons a line names. */
const shownReasons = 3;

/** Returns a count for people, without a full stop: `2 of 3 Pods run with the current configuration`. */
export function describePodCount({ current, total, ready, notReadyReasons }: PodCount): string {
  if (total === 0) return "There are no Pods";
  if (ready < total) {
    const why = notReadyReasons.length === 0 ? "" : ` (${formatList(notReadyReasons, shownReasons, String)})`;
    return `${current} of ${total} ${total === 1 ? "Pod has" : "Pods have"} the current configuration, ${ready} ${ready === 1 ? "is" : "are"} ready${why}`;
  }
  return `${current} of ${total} ${total === 1 ? "Pod runs" : "Pods run"} with the current configuration`;
}

/** Returns what the Pods of the last rollout of a workload show; undefined if they show no failure, or are not known. */
export function newPodsNow(
  workload: Workload,
  { pods, kubernetes, now }: Pick<RolloutFacts, "pods" | "kubernetes" | "now">,
): NewPods | undefined {
  const rollout = podsOfRollout(workload, timeOf(pods, now));
  if (pods.state !== "read" || rollout === undefined) return undefined;
  const ofWorkload = [...pods.of(workload), ...pods.terminating(workload)].map(({ observed }) => observed);
  return newPodsOf(ofWorkload, rollout, quotaReason(kubernetes?.message));
}

/** Returns the time that the times of Pods are compared with: the clock of this machine may differ from that of the API server. */
function timeOf(pods: ReadPods, now: number): number {
  return (pods.state === "read" ? pods.at : undefined) ?? now;
}

/** Returns when the last rollout of a workload last made progress, from its status, in milliseconds since the epoch. */
export function statusProgressSince(object: WorkloadObject, { rolledAt }: Pick<Workload, "rolledAt">): number {
  const progressing = conditionsOf(object).find(({ type }) => type === "Progressing")?.lastUpdateTime;
  return Math.max(rolledAt * 1000, Date.parse(progressing ?? "") || 0);
}

/** Returns the same as {@link statusProgressSince}, or when the newest Pod of the last rollout started, if that is later. */
export function rolloutProgressSince(object: WorkloadObject, workload: Workload, pods: ReadPods): number {
  const ofWorkload = pods.state === "read" ? pods.of(workload) : [];
  const isNew = ({ hash }: RunningPod) => hash !== undefined && hash === workload.recordedHash;
  const started = ofWorkload.filter(isNew).map(({ startedAt }) => startedAt * 1000);
  return Math.max(statusProgressSince(object, workload), ...started);
}
