import type { PodSpec, VolumeProjection } from "#kubernetes";
import { describeKeptPods } from "../../../domain/model/rollout-strategy.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../../../domain/model/scheduling-hold.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { RolloutPlan } from "../../../domain/outcomes/outcomes.ts";
import { canBePinned } from "../../../domain/pinning/pin-request.ts";
import { type ReadConfig, withReadsOf } from "../../../domain/pods/observed-pod.ts";
import { configStateOf } from "../../../domain/pods/pod-state.ts";
import { type PolicyAnnotation, policyAnnotations } from "../../../domain/policy/policy-rows.ts";
import type { DecidedBy } from "../../../domain/policy/rules.ts";
import { quoted } from "../../../domain/syntax/names.ts";
import type { RunningPod } from "../read/pods.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { pinningTexts } from "../states/pod-pinning.ts";

/** Returns other settings of the workload that delay new Pods, one line each. They explain why Kubernetes replaced no Pod. */
export function workloadNotes(object: WorkloadObject, workload: Workload): readonly string[] {
  const { templateSource, keptPods } = workload;
  const notes: string[] = [];
  if (templateSource !== undefined)
    notes.push(
      `The pod template comes from ${quoted(templateSource.kind)} ${quoted(templateSource.name)} (workloadRef).`,
    );
  notes.push(...untrackedProjectionNotes(object));
  if (keptPods !== undefined) notes.push(describeKeptPods(keptPods));
  if (isSchedulingHeld(workload)) notes.push("The workload has a scheduling hold. New Pods stay pending.");
  else if (hasSchedulingHold(workload))
    notes.push("Another client ended the scheduling hold, but did not remove its annotation.");
  return notes;
}

/** Returns one line for each volume with certificates that Pods read and Wave does not track. The kubelet updates their files. */
function untrackedProjectionNotes({ spec }: WorkloadObject): readonly string[] {
  const { volumes = [] }: Pick<PodSpec, "volumes"> = spec?.template?.spec ?? {};
  return volumes.flatMap(({ name, projected }) => {
    const kinds = new Set((projected?.sources ?? []).flatMap((source) => kindOf(source) ?? []));
    return [...kinds].map(
      (kind) =>
        `Wave does not track the ${kind} projections of volume ${quoted(name)}. Their changes start no rollout.`,
    );
  });
}

/** https://kubernetes.io/docs/concepts/storage/projected-volumes/ */
function kindOf(source: VolumeProjection): string | undefined {
  if (source.clusterTrustBundle) return "ClusterTrustBundle";
  return source.podCertificate ? "PodCertificate" : undefined;
}

/** How many Pods of the old revision may read a change that is held, because Kubernetes does not wait for Wave. */
export interface HeldChange {
  /** All Pods, and those that were rolled for the change. */
  readonly total: number;
  readonly rolled: number;
  /** The Pods whose containers all started after the change, so that they read it. */
  readonly startedSince: number;
  /** The Pods that mount a changed object. The kubelet updates mounted files by itself. */
  readonly files: number;
  /** The Pods that read a changed object as environment variables. A container reads them again when it restarts. */
  readonly env: number;
}

/**
 * Returns how many Pods that are not current read a held change, or may read it; null if no change is held. `changed` has the keys of
 * the objects that changed since the last rollout, and the time of the last change. A change that only settles soon reaches all Pods.
 */
export function heldChange(
  plan: RolloutPlan,
  { recordedHash: hash, rolledAt }: Workload,
  pods: readonly RunningPod[],
  isCurrent: (pod: RunningPod) => boolean,
  changed: { readonly keys: ReadonlySet<string>; readonly at: number | undefined; readonly readConfig: ReadConfig },
): HeldChange | null {
  if (plan.outcome !== "held" || plan.due.outcome !== "roll" || plan.due.again) return null;
  if (plan.hold.reason === "settling") return null;
  const spans = [{ from: changed.at ?? 0, to: undefined }];
  const history = { hash, spans, changedAt: changed.at, rolledAt: rolledAt * 1000 };
  const old = pods.filter((pod) => !isCurrent(pod));
  const unsure = old.filter(
    ({ observed }) => configStateOf(withReadsOf(observed, changed.readConfig), history) !== "current",
  );
  const reading = (by: "files" | "env") => unsure.filter((pod) => !pod[by].isDisjointFrom(changed.keys)).length;
  return {
    total: pods.length,
    rolled: pods.length - old.length,
    startedSince: old.length - unsure.length,
    files: reading("files"),
    env: reading("env"),
  };
}

/** Returns one line for each way in which old Pods may read a held change. */
export function heldChangeLines(held: HeldChange | null): readonly string[] {
  if (held === null) return [];
  return [
    ...(held.startedSince === 0 ? [] : [startedSince(held)]),
    ...(held.files === 0 ? [] : [pinningTexts.heldFiles(held.files)]),
    ...(held.env === 0 ? [] : [pinningTexts.heldEnv(held.env)]),
  ];
}

function startedSince({ rolled, total, startedSince: count }: HeldChange): string {
  return `${rolled} of ${total} ${total === 1 ? "Pod was" : "Pods were"} rolled for the held change. ${count} started since the change and ${count === 1 ? "reads" : "read"} it already.`;
}

/** Returns the lines about a held change, and how to prevent that old Pods read the next one. */
export function heldChangeNotes(held: HeldChange | null, workload: Workload, isPinned: boolean): readonly string[] {
  const lines = heldChangeLines(held);
  return lines.length > 0 && !isPinned && canBePinned(workload) ? [...lines, pinningTexts.pinToPrevent] : lines;
}

/** One policy setting of a workload that an annotation or a flag sets, and its source. */
export interface DecidedPolicy {
  /** The annotation without its prefix, or the flag. */
  readonly name: PolicyAnnotation | "observe";
  /** The value as written. */
  readonly value: string;
  readonly by: DecidedBy;
}

/** Returns the settings that decide when a workload rolls. The workload's annotation wins over the Namespace annotation, which wins over the flag. */
export function decidedPolicy(
  { namespace, policy: own }: Pick<Workload, "namespace" | "policy">,
  { namespacePolicyOf, pacing: flags }: Pick<KnownPolicy, "namespacePolicyOf" | "pacing">,
): readonly DecidedPolicy[] {
  const shared = namespacePolicyOf?.(namespace)?.annotations ?? {};
  const decided = policyAnnotations.flatMap((name): readonly DecidedPolicy[] => {
    if (own[name]) return [{ name, value: own[name], by: "workload" }];
    if (shared[name]) return [{ name, value: shared[name], by: "namespace" }];
    return name === "window" && flags.window !== undefined ? [{ name, value: flags.window, by: "flag" }] : [];
  });
  return flags.observe ? [{ name: "observe", value: "true", by: "flag" }, ...decided] : decided;
}
