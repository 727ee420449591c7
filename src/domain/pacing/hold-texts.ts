import { describeObject } from "../config/view-of-references.ts";
import type { WorkloadName } from "../model/workload-shape.ts";
import type { HoldReason } from "../outcomes/outcomes.ts";
import type { ContainerExit } from "../pods/observed-pod.ts";
import type { ClusterHold } from "../policy/policy.ts";
import type { DecidedBy } from "../policy/rules.ts";
import { annotationPrefix } from "../references/annotations.ts";
import { type ConfigName, isStored } from "../references/references.ts";
import { formatCount, quoted, waveArguments } from "../syntax/names.ts";
import { formatDuration } from "../syntax/time.ts";

/**
 * The messages of all holds: state, cause, next step. A message contains no value that changes while the hold lasts, so that
 * one hold is one Event.
 */
export const holdTexts = {
  observed: (by: DecidedBy) =>
    by === "flag"
      ? "Rollout held: Wave runs with --observe and writes nothing. To allow rollouts, remove --observe."
      : `Rollout held by ${describeAnnotation("mode", by)}: "observe". To allow rollouts, set another mode.`,

  clusterHold: ({ namespace, reason }: ClusterHold) =>
    `Every rollout is held by ${describeAnnotation("hold-cluster", "namespace")} ${quoted(namespace)}${reasonOf(reason)}. Run: wave release --cluster.`,

  invalid: (problems: string) => `Rollout held: ${problems}. Set a valid value.`,

  holdOnWorkload: (workload: WorkloadName, why = "") =>
    `Rollout held by ${describeAnnotation("hold", "workload")}${reasonOf(why)}. Run: wave release ${waveArguments(workload)}.`,

  holdOnNamespace: ({ namespace }: WorkloadName, why = "") =>
    `Rollout held by ${describeAnnotation("hold", "namespace")} ${quoted(namespace)}${reasonOf(why)}. Run: wave release namespace/${namespace}.`,

  holdOnObjects: (described: string, objects: readonly ConfigName[], why = "") =>
    `Rollout held by annotation ${annotationPrefix}hold on ${described}${reasonOf(why)}. Run: wave release ${argumentsOf(objects)}.`,

  approval: (workload: WorkloadName, digits: string, approved: string | undefined) =>
    `Waiting for approval of hash ${digits}${approved === undefined ? "" : `; approved is ${quoted(approved)}`}. ` +
    `Run: wave approve ${waveArguments(workload)}, or set annotation ${annotationPrefix}approved: "${digits}".`,

  window: (by: DecidedBy, text: string, opensAt: string) =>
    `Rollout held until ${opensAt}: outside window ${quoted(text)}, set by ${by === "flag" ? "--window" : describeAnnotation("window", by)}.`,

  settling: (settleMs: number, maxMs: number) =>
    "Rollout held: the configuration has just changed. " +
    `Starts ${formatDuration(settleMs)} after the last change, at most ${formatDuration(maxMs)} after the first change.`,

  reverted: (editedBy: string | undefined, waitMs: number) =>
    `Hash removed${by(editedBy)}. Next write ${formatDuration(waitMs)} after the last one, then less often. ${keepFrom(editedBy)}`,

  revertedTooOften: (editedBy: string | undefined, times: number) =>
    `Hash removed ${formatCount(times)} times${by(editedBy)}. ` +
    `No further write until the configuration changes or the workload is created again. ${keepFrom(editedBy)}`,

  interval: (waitMs: number, by: "min-interval" | "consecutive rollouts") =>
    `Rollout held: previous rollout less than ${formatDuration(waitMs)} ago. Starts after this wait, ` +
    (by === "min-interval" ? "which min-interval sets." : "which grows with each consecutive rollout."),

  progressing: (stalledMs: number) =>
    "Rollout held: previous rollout in progress. " +
    `Starts when that rollout completes, fails or stalls for ${formatDuration(stalledMs)}.`,

  alert: (name: string, workload: WorkloadName) =>
    `Rollout held: alert ${quoted(name)} fires in namespace ${quoted(workload.namespace)}. Continues when the alert is resolved. To roll now, run: wave roll ${waveArguments(workload)}.`,

  alertsUnknown:
    "Rollout held: Prometheus has not answered yet whether an alert fires. Starts when it answers, or after 2m without an answer.",

  alertsRequired:
    "Rollout held: Prometheus does not answer whether an alert fires, and --gate-required is set. Starts when it answers. Check --gate-prometheus-url.",

  batch: (object: ConfigName, namespace: string) =>
    `Waiting for other workloads that roll first after the change of ${describeObject(object, namespace)}. Starts when they are complete.`,

  /** `reason` is a word of Kubernetes. Its message is not here: it changes while the hold lasts. */
  stuck: (object: ConfigName, namespace: string, stuck: WorkloadName, reason: string) =>
    `Waiting for ${stuck.kind} ${quoted(stuck.name)}, which rolls first after the change of ${describeObject(object, namespace)} and is stuck (${reason}). ` +
    `${object.kind === "Secret" ? "Starts when it is complete, or after --rollout-timeout." : "Starts when it is complete."} Run: wave explain ${waveArguments(stuck)}.`,

  halted: (object: ConfigName, namespace: string) => {
    const described = describeObject(object, namespace);
    return `Rollout halted: workloads failed after ${described} changed. Continues when ${described} changes again, failed workloads recover, or ${toResume(object, namespace)}.`;
  },

  /** `heldBy`: the hold that delays the rollout of the validator. */
  validating: (object: ConfigName, namespace: string, validator: WorkloadName, heldBy: HoldReason | undefined) =>
    `Waiting for validator ${named(validator)}, which checks the change of ${describeObject(object, namespace)} first` +
    `${heldBy === undefined ? ". Starts when the validator has passed." : `. Its rollout is held (${heldBy}). Run: wave explain ${waveArguments(validator)}.`}`,

  /** `exit`: the container that exited; undefined if the rollout failed otherwise. */
  validatorFailed: (
    object: ConfigName,
    namespace: string,
    validator: WorkloadName,
    exit: ContainerExit | undefined,
  ) => {
    const described = describeObject(object, namespace);
    const cause =
      exit === undefined
        ? "its rollout is not complete"
        : `container ${quoted(exit.container)} exited with code ${exit.exitCode}`;
    const look =
      exit === undefined
        ? `wave explain ${waveArguments(validator)}`
        : `kubectl logs ${exit.pod} -c ${exit.container} -n ${namespace}`;
    return `Rollout halted: validator ${named(validator)} failed after ${described} changed: ${cause}. Run: ${look}. Continues when the validator passes another change, or ${toResume(object, namespace)}.`;
  },

  validatorUnusable: (object: ConfigName, namespace: string, validator: WorkloadName, why: string) =>
    `Rollout halted: validator ${named(validator)} cannot check the change of ${describeObject(object, namespace)}: ${why}. ` +
    `Continues when the validator can check it, or without annotation ${annotationPrefix}validator-required on Namespace ${quoted(namespace)}. Run: wave explain ${waveArguments(validator)}.`,
};

/** Returns `annotation wave.pusher.com/hold`, with its place if that is not the workload itself. */
export function describeAnnotation(annotation: string, by: "workload" | "namespace"): string {
  return `annotation ${annotationPrefix}${annotation}${by === "namespace" ? " on Namespace" : ""}`;
}

function toResume(object: ConfigName, namespace: string): string {
  return object.namespace === namespace && isStored(object)
    ? `you run: wave resume ${waveArguments(object)}`
    : "you run wave resume on the failed workloads";
}

function named({ kind, name }: WorkloadName): string {
  return `${kind} ${quoted(name)}`;
}

/** Returns the text of a person behind a hold. */
function reasonOf(text: string): string {
  return text === "" ? "" : `: ${quoted(text)}`;
}

function by(manager: string | undefined): string {
  return manager === undefined ? " by another client" : `, possibly by field manager ${quoted(manager)}`;
}

function keepFrom(manager: string | undefined): string {
  return `Keep ${manager === undefined ? "other clients" : quoted(manager)} from changing Wave annotations.`;
}

/** Returns the arguments for one object; a placeholder for several objects. */
function argumentsOf(objects: readonly ConfigName[]): string {
  const [only] = objects;
  return only === undefined || objects.length > 1 ? "KIND/NAME for each of them" : waveArguments(only);
}
