import { describeKeptPods } from "../../../domain/model/kept-pods.ts";
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
    ...(workload.keptPods === undefined ? [] : [describeKeptPods(workload.keptPods)]),
    ...schedulingHoldNotes(workload),
  ];
}

function templateSourceNotes({ templateSource }: Workload): readonly string[] {
  return templateSource === undefined
    ? []
    : [`The pod template comes from ${quoted(templateSource.kind)} ${quoted(templateSource.name)} (workloadRef).`];
}

function schedulingHoldNotes(workload: Workload): readonly string[] {
  if (isSchedulingHeld(workload)) return ["The workload has a scheduling hold. New Pods stay pending."];
  return hasSchedulingHold(workload)
    ? ["Another client ended the scheduling hold, but did not remove its annotation."]
    : [];
}
