import { fieldsOf, numberOf } from "../../domain/model/kinds/replica-counts.ts";
import { hasSchedulingHold, isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import type { Workload, WorkloadObject } from "../../domain/model/workload.ts";
import { quoted } from "../../domain/syntax/wording.ts";

/**
 * What else decides when a workload's Pods see a change, a line each: all of it is Kubernetes' to act on, and a person who
 * wonders why no Pod was replaced looks for it.
 */
export function workloadNotes(object: WorkloadObject, workload: Workload): readonly string[] {
  return [...templateSourceNotes(workload), ...rolloutNotes(object), ...schedulingHoldNotes(workload)];
}

function templateSourceNotes({ templateSource }: Workload): readonly string[] {
  return templateSource === undefined
    ? []
    : [`its pod template is that of ${quoted(templateSource.kind)} ${quoted(templateSource.name)}`];
}

function rolloutNotes({ spec }: WorkloadObject): readonly string[] {
  if (spec === undefined) return [];
  const notes: string[] = [];
  if ("paused" in spec && spec.paused === true)
    notes.push("it is paused: Kubernetes replaces its Pods when it is resumed");
  if ("replicas" in spec && spec.replicas === 0)
    notes.push("it is scaled to zero: there are no Pods to replace until it is scaled up");
  const { updateStrategy } = fieldsOf(spec);
  const { type, rollingUpdate } = fieldsOf(updateStrategy);
  if (type === "OnDelete") notes.push("its update strategy is OnDelete: Kubernetes replaces a Pod when it is deleted");
  const partition = numberOf(fieldsOf(rollingUpdate).partition) ?? 0;
  if (partition > 0) notes.push(`its partition is ${partition}: Kubernetes does not replace the Pods of lower ordinal`);
  return notes;
}

function schedulingHoldNotes(workload: Workload): readonly string[] {
  if (isSchedulingHeld(workload)) return ["the scheduling hold is closed: its new Pods stay pending"];
  return hasSchedulingHold(workload)
    ? ["the scheduling hold was opened by somebody else: its annotation is left over"]
    : [];
}
