import { schedulingDisabled } from "../references/annotations.ts";
import { annotationPath, type JsonPatchOperation } from "../syntax/json-patch.ts";
import type { Workload } from "./workload.ts";

/** The scheduler of a workload whose Pods must wait for their configuration: none of this name runs. */
export const invalidScheduler = "wave.pusher.com/invalid";

/** What the API server writes where a pod template names no scheduler. */
const defaultScheduler = "default-scheduler";

const schedulerPath = "/spec/template/spec/schedulerName";
const schedulingHoldPath = `/metadata/annotations/${annotationPath(schedulingDisabled)}`;

/** Whether the scheduling gate keeps the Pods of a workload pending. The scheduler alone decides that. */
export function isSchedulingHeld(workload: Workload): boolean {
  return workload.schedulerName === invalidScheduler;
}

/**
 * Whether anything of the scheduling gate is on a workload: its scheduler, its annotation, or one without the other
 * because somebody restored or removed it.
 */
export function hasSchedulingHold(workload: Workload): boolean {
  return isSchedulingHeld(workload) || workload.disabledScheduler !== undefined;
}

/**
 * The scheduler that a workload has once its gate is lifted; "" means the default one. A gate without its annotation no
 * longer says what was there, so then it is what the workload had before the update, where that is known, and else the
 * default: better than Pods that wait for ever.
 */
export function intendedScheduler(workload: Workload, before?: Workload): string {
  if (!isSchedulingHeld(workload)) return workload.schedulerName ?? "";
  if (workload.disabledScheduler === invalidScheduler) return "";
  if (workload.disabledScheduler !== undefined) return workload.disabledScheduler;
  return before === undefined ? "" : intendedScheduler(before);
}

/** Whether two schedulers are the same, as the API server defaults them. */
export function sameScheduler(a: string, b: string): boolean {
  return (a || defaultScheduler) === (b || defaultScheduler);
}

/**
 * Keeps the Pods of a workload from being scheduled and notes the scheduler to restore. Nothing where that is so
 * already.
 */
export function closeSchedulingHold(workload: Workload, before?: Workload): readonly JsonPatchOperation[] {
  if (isSchedulingHeld(workload) && workload.disabledScheduler !== undefined) return [];
  // "add" also replaces.
  return [
    { op: "add", path: schedulingHoldPath, value: intendedScheduler(workload, before) },
    { op: "add", path: schedulerPath, value: invalidScheduler },
  ];
}

/**
 * Restores the scheduler, unless somebody has done so, and removes the annotation. An empty scheduler is restored by
 * removing the field: the API server then writes its default.
 */
export function openSchedulingHold(workload: Workload, before?: Workload): readonly JsonPatchOperation[] {
  const name = intendedScheduler(workload, before);
  const restored: JsonPatchOperation =
    name === "" ? { op: "remove", path: schedulerPath } : { op: "replace", path: schedulerPath, value: name };
  return [
    ...(isSchedulingHeld(workload) ? [restored] : []),
    ...(workload.disabledScheduler === undefined ? [] : [{ op: "remove", path: schedulingHoldPath } as const]),
  ];
}

/** Fails where the gate is no longer as it was read: an annotation raises no generation of some kinds. */
export function testSchedulingHold(workload: Workload): readonly JsonPatchOperation[] {
  if (workload.disabledScheduler === undefined) return [];
  return [{ op: "test", path: schedulingHoldPath, value: workload.disabledScheduler }];
}
