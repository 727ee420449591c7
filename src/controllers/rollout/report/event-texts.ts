/** This folder reports runs: Events, log lines and metrics. This file has the texts of Events about rollouts. Those about holds are in domain/pacing/hold-texts.ts. */
import { describeMissing } from "../../../domain/config/view-of-references.ts";
import { describeKeptPods, keepsAllPods } from "../../../domain/model/rollout-strategy.ts";
import { hasSchedulingHold } from "../../../domain/model/scheduling-hold.ts";
import type { Workload, WorkloadName } from "../../../domain/model/workload-shape.ts";
import type { Held, RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { holdRows, isHalt } from "../../../domain/pacing/holds.ts";
import { formatConfigMaps } from "../../../domain/pinning/pin-request.ts";
import { unprovenText } from "../../../domain/plan/evidence.ts";
import { allowWorkloadRef } from "../../../domain/references/annotations.ts";
import { configKey } from "../../../domain/references/references.ts";
import { quoted, waveArguments } from "../../../domain/syntax/names.ts";
import { formatDuration } from "../../../domain/syntax/time.ts";
import { type ObjectEvent, truncateUtf8 } from "../../../kube/events/event-object.ts";
import type { PlanSummary, RolloutEnd } from "../memory/outcome.ts";

/** The most bytes of what changed in the Event of a hold: its next step must fit. */
const maxDueBytes = 500;

/** An Event without its object. */
export type WorkloadEvent = Omit<ObjectEvent, "regarding">;

/** Returns the Events about what needs a person as long as a workload has this plan: missing objects, Pods that may run an earlier configuration, and invalid annotations. */
export function blockerEvents(workload: Workload, plan: RolloutPlan): readonly WorkloadEvent[] {
  const warnings = warningEvents(plan);
  if (plan.outcome === "current" && plan.unproven !== undefined && !plan.underWay) {
    const message = unprovenText(plan.unproven, waveArguments(workload));
    return [{ type: "Warning", reason: "ConfigUnproven", message }, ...warnings];
  }
  if (plan.outcome !== "waiting") return warnings;
  const missing = describeMissing(plan.missing, workload.namespace);
  const waits =
    plan.schedulingHold === "closed"
      ? { reason: "SchedulingDisabled", message: eventTexts.podsPending(missing) }
      : { reason: "ConfigMissing", message: eventTexts.configMissing(missing) };
  return [{ type: "Warning", ...waits }, ...warnings];
}

/** Returns the Event about a due write that is held. If the hold does not end soon by itself, the text names what changed and who changed it. */
export function heldEvent(
  { namespace }: Workload,
  { hold, reason }: Held & Pick<RolloutPlan, "reason">,
): WorkloadEvent {
  const type = hold.warning ? "Warning" : "Normal";
  const message =
    holdRows[hold.reason].isShort || hold.reason === "reverted"
      ? hold.message
      : eventTexts.due(truncateUtf8(reason, maxDueBytes), hold.message);
  if (!isHalt(hold)) return { type, reason: "RolloutHeld", message };
  const group = `${namespace} ${hold.object && configKey(hold.object)} ${hold.haltReportedAt}`;
  return { type, reason: "RolloutHalted", message, group };
}

/** Returns the Events about annotations and references that Wave ignores. */
export function warningEvents({ warnings }: PlanSummary): readonly WorkloadEvent[] {
  return warnings.map(({ reason, message }) => ({ type: "Warning", reason, message }));
}

/** Returns the Event about a successful write. `waitedFor` names what was missing before, if that is known. */
export function writtenEvent(before: Workload, plan: PlanSummary, waitedFor: string | undefined): WorkloadEvent {
  const why = `${plan.reason}.${waitedFor === undefined ? "" : ` Waited for ${waitedFor}.`}`;
  const kept = describeKeptPods(before.keptPods);
  if (hasSchedulingHold(before)) {
    return { type: "Normal", reason: "SchedulingEnabled", message: joined(eventTexts.schedulingEnabled(why), kept) };
  }
  if (plan.returned !== undefined) {
    const configMaps = formatConfigMaps(plan.returned);
    const message = eventTexts.rolloutReturned(configMaps, waveArguments(before));
    return { type: "Warning", reason: "RolloutReturned", message };
  }
  switch (plan.outcome) {
    case "cleanUp":
      return { type: "Normal", reason: "Unpaused", message: eventTexts.unpaused(plan.reason) };
    case "roll":
      return { type: "Normal", reason: "ConfigChanged", message: rolloutText(before, plan.reason, kept) };
    case "recorded":
      return { type: "Normal", reason: "ConfigRecorded", message: eventTexts.recorded(plan.reason) };
    default: {
      const { hashOn, podsCarryHash, texts } = before.strategy;
      const place = hashOn === "workload" ? "annotations" : "pod template";
      const effect = podsCarryHash && keepsAllPods(before) ? kept : texts.firstHash;
      return { type: "Normal", reason: "ConfigHashAdded", message: joined(eventTexts.hashAdded(place, why), effect) };
    }
  }
}

/** Returns what follows from a new hash: a rollout, unless a setting of the workload keeps all Pods. */
function rolloutText(before: Workload, why: string, kept: string): string {
  return joined(keepsAllPods(before) ? eventTexts.podsKept(why) : eventTexts.rolloutStarted(why), kept);
}

function joined(text: string, more: string): string {
  return more === "" ? text : `${text} ${more}`;
}

/** Returns the Event about the end of a rollout. Each leader finds the same end, so the start of the rollout identifies the Event. */
export function rolloutEndEvent(
  workload: WorkloadName,
  { result, cause = "", durationMs, why, startedAt }: RolloutEnd,
): WorkloadEvent {
  // Times of the API are whole seconds.
  const duration = formatDuration(Math.max(1, Math.floor(durationMs / 1_000)) * 1_000);
  const once = { id: `${startedAt}`, repeats: "perhaps" } as const;
  switch (result) {
    case "complete":
      return { type: "Normal", reason: "RolloutComplete", message: eventTexts.rolloutComplete(duration, why), ...once };
    case "resolved":
      return { type: "Normal", reason: "RolloutResolved", message: eventTexts.rolloutResolved(duration, why), ...once };
    case "stuck": {
      const message = eventTexts.rolloutStuck(cause, why, waveArguments(workload));
      return { type: "Warning", reason: "RolloutStuck", message, ...once };
    }
    case "failed": {
      const message = eventTexts.rolloutFailed(duration, cause, why, waveArguments(workload));
      return { type: "Warning", reason: "RolloutFailed", message, ...once };
    }
  }
}

/** The texts of the Events about rollouts: state, cause, next step. docs/events.md is made from this table. */
export const eventTexts = {
  rolloutStarted: (why: string) => `Rollout started: ${why}.`,
  /** With the setting that keeps the Pods. */
  podsKept: (why: string) => `Hash updated, but no Pod is replaced yet: ${why}.`,
  rolloutComplete: (duration: string, why: string) => `Rollout complete after ${duration}: ${why}.`,
  rolloutResolved: (duration: string, why: string) => `Failed rollout resolved: complete after ${duration}: ${why}.`,
  rolloutFailed: (duration: string, cause: string, why: string, toExplain: string) =>
    `Rollout failed after ${duration}: ${cause}. It started because ${why}. Run: wave explain ${toExplain}.`,
  rolloutStuck: (cause: string, why: string, toExplain: string) =>
    `Rollout stuck: ${cause}. It started because ${why}. It continues when the Pod starts. Run: wave explain ${toExplain}.`,
  hashAdded: (place: string, why: string) => `Added the configuration hash to the ${place}: ${why}`,
  recorded: (why: string) => `Recorded the current configuration without restarting Pods: ${why}.`,
  schedulingEnabled: (why: string) => `Scheduling enabled: ${why}`,
  unpaused: (why: string) => `Deployment unpaused: ${why}.`,
  configMissing: (missing: string) => `Waiting for ${missing}. Running Pods are not changed.`,
  podsPending: (missing: string) => `New Pods are pending. Waiting for ${missing}. Create what is missing.`,
  /** Followed by the text of the hold. */
  due: (why: string, hold: string) => `Rollout due: ${why}. ${hold}`,
  rolloutReturned: (configMaps: string, toResume: string) =>
    `Rollout failed. New Pods read the earlier content of ${configMaps} again. Fix the ConfigMap, or run: wave resume ${toResume}`,
  changeReturned: (workload: string, toResume: string) =>
    `Rollout of the last change failed: ${workload} reads the earlier content again. Fix this ConfigMap, or run: wave resume ${toResume}`,
  changeHalted: (place: string, cause: string, command: string) =>
    `Rollout of the last change halted${place}: ${cause}. Continues when this object changes again, failed workloads recover, or ${command}.`,
  notValidated: (place: string, validator: string, why: string) =>
    `The last change is not validated${place}: ${validator} cannot check it, because ${why}. The change continues with the canary. Repair the validator.`,
  haltEnded: (place: string) => `Rollout of the last change is no longer halted${place}.`,
} as const;

/** The messages of refused writes and reads. They become the text of the Event `RolloutRefused`. docs/events.md is made from this table. */
export const refusedTexts = {
  /** The API server returned the workload without the hash. */
  hashRemovedOnWrite: (resource: string, field: string) =>
    `Hash removed on write. Allow ${field} in the schema of ${resource}, or fix the webhook that removes the hash.`,
  /** The API server returned a template source without the hash. */
  annotationRemovedOnWrite: (annotation: string, deployment: string) =>
    `Annotation ${annotation} removed from the pod template of Deployment ${quoted(deployment)} on write. Fix the webhook that removes the annotation.`,
  /** The owner of a template source did not consent to a restart of its Pods. */
  workloadRefNotAllowed: (deployment: string) =>
    `Not rolled: Deployment ${quoted(deployment)} has Pods and has not opted in. To allow the changes for a Rollout with workloadRef, set ${allowWorkloadRef}: "true" on it.`,
  forbiddenToWrite: (resource: string, namespace: string) =>
    `Cannot write the hash: forbidden. Grant patch on ${resource} in namespace ${quoted(namespace)} to the service account of Wave with a Role.`,
  forbiddenToRead: (resource: string, namespace: string) =>
    `Cannot read configuration: forbidden. Grant get on configmaps, secrets and ${resource} in namespace ${quoted(namespace)} to the service account of Wave with a Role.`,
  forbiddenToReplace: (namespace: string) =>
    `Cannot delete the Pods of the failed rollout: forbidden. Grant list and delete on pods in namespace ${quoted(namespace)} to the service account of Wave with a Role.`,
  refusedWrite: (cause: string) => `Cannot write the hash: the API server refused the write: ${cause}`,
  jobWithFinalizers: "Job not replaced: it has finalizers. Remove the finalizers, or replace the Job yourself.",
  jobNotRecreated: (cause: string) => `Job deleted, but not created again: ${cause}. Wave retries every 30 s.`,
};

/** The messages of writes and reads that Wave retries at once or soon. They become the field `error` of a log line, not an Event. */
export const retriedTexts = {
  unconfirmed: (cause: string) => `Cannot read configuration: ${cause}`,
  templateSourceChanging: "Template source kept changing during the write. Wave retries.",
} as const;
