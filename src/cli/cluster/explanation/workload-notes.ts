import { fieldsOf, numberOf } from "../../../domain/model/kinds/replica-counts.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../../../domain/model/scheduling-hold.ts";
import type { Workload, WorkloadObject } from "../../../domain/model/workload.ts";
import { quoted } from "../../../domain/syntax/wording.ts";
import { untrackedProjectionNotes } from "./untracked-projections.ts";

/**
 * Returns other settings of the workload that decide when its Pods are replaced, one line each. They explain why Kubernetes replaced
 * no Pod.
 */
export function workloadNotes(object: WorkloadObject, workload: Workload): readonly string[] {
  return [
    ...templateSourceNotes(workload),
    ...untrackedProjectionNotes(object),
    ...rolloutNotes(object),
    ...schedulingHoldNotes(workload),
  ];
}

function templateSourceNotes({ templateSource }: Workload): readonly string[] {
  return templateSource === undefined
    ? []
    : [`The pod template comes from ${quoted(templateSource.kind)} ${quoted(templateSource.name)} (workloadRef).`];
}

function rolloutNotes({ spec }: WorkloadObject): readonly string[] {
  if (spec === undefined) return [];
  const notes: string[] = [];
  if ("paused" in spec && spec.paused === true)
    notes.push("The workload is paused. Kubernetes replaces the Pods after it is resumed.");
  if ("replicas" in spec && spec.replicas === 0)
    notes.push("The workload is scaled to zero. There are no Pods to replace.");
  const { updateStrategy } = fieldsOf(spec);
  const { type, rollingUpdate } = fieldsOf(updateStrategy);
  if (type === "OnDelete")
    notes.push("The update strategy is OnDelete. Kubernetes replaces a Pod after you delete it.");
  const partition = numberOf(fieldsOf(rollingUpdate).partition) ?? 0;
  if (partition > 0)
    notes.push(`The partition is ${partition}. Kubernetes does not replace Pods with a lower ordinal.`);
  return notes;
}

function schedulingHoldNotes(workload: Workload): readonly string[] {
  if (isSchedulingHeld(workload)) return ["The workload has a scheduling hold. New Pods stay pending."];
  return hasSchedulingHold(workload)
    ? ["Another client ended the scheduling hold, but did not remove its annotation."]
    : [];
}
