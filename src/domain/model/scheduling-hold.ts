import type { ObjectMeta } from "#kubernetes";
import type { CompatibilitySettings } from "../compatibility/directive.ts";
import { schedulingDisabled } from "../references/annotations.ts";
import { fieldManager, recordManager } from "../references/field-managers.ts";
import type { Warning } from "../references/warning.ts";
import { annotationPointer, type JsonPatch, type JsonPatchOperation, valueAtPointer } from "../syntax/json.ts";
import type { WorkloadRow } from "./kind-row.ts";
import type { WorkloadObject } from "./workload-references.ts";
import type { Workload } from "./workload-shape.ts";

/** The schedulerName of a workload with a scheduling hold. No scheduler has this name. */
export const invalidScheduler = "wave.pusher.com/invalid";

/** The field selector of Pods that no scheduler handles. The API server filters by it. */
export const pendingPodsSelector = `spec.schedulerName=${invalidScheduler},spec.nodeName=`;

/** The schedulerName that the API server sets by default. */
const defaultScheduler = "default-scheduler";

const schedulerPath = "/spec/template/spec/schedulerName";
const schedulingHoldPath = annotationPointer(schedulingDisabled);

/** Reports whether the scheduling hold keeps the Pods of a workload pending. Only the schedulerName decides that. */
export function isSchedulingHeld(workload: Workload): boolean {
  return workload.schedulerName === invalidScheduler;
}

/**
 * Reports whether a workload has any part of a scheduling hold: the schedulerName or the annotation. One of them may be missing because a
 * person restored or removed it.
 */
export function hasSchedulingHold(workload: Workload): boolean {
  return isSchedulingHeld(workload) || workload.schedulerToRestore !== undefined;
}

/**
 * Reports whether Wave may keep the Pods of a workload pending. The Secrets Store driver creates a Secret only when a scheduled Pod mounts its
 * volume, so a Pod that waits for this Secret would never start.
 */
export function acceptsSchedulingHold({ strategy, mountsSecretsStore }: Workload): boolean {
  return strategy.acceptsSchedulingHold && !mountsSecretsStore;
}

/** The longest time of a scheduling hold, in milliseconds. What makes the missing object may itself wait for the Pod. */
const longestHoldMs = 600_000;

/** Returns when the scheduling hold of a workload ends by itself, in milliseconds since the epoch: some time after the last change of its pod template. */
export function schedulingHoldEndsAt({ createdAt, templateEditedAt }: Workload): number {
  return Math.max(createdAt, templateEditedAt) * 1000 + longestHoldMs;
}

/** The text about a scheduling hold that ended although objects are missing. */
export const holdExpiredText = (missing: string) =>
  `Scheduling hold ended after 10 minutes. Still missing: ${missing}. Create what is missing. Kubernetes then starts the Pods.`;

/**
 * Returns the scheduler of a workload after its scheduling hold is lifted; "" means the default scheduler. If the annotation is missing, the
 * function returns the scheduler before the update, if `before` is known. Otherwise it returns the default, so that Pods do
 * not stay pending forever.
 */
export function intendedScheduler(workload: Workload, before?: Workload): string {
  if (!isSchedulingHeld(workload)) return workload.schedulerName ?? "";
  if (workload.schedulerToRestore === invalidScheduler) return "";
  if (workload.schedulerToRestore !== undefined) return workload.schedulerToRestore;
  return before === undefined ? "" : intendedScheduler(before);
}

/** Reports whether two scheduler names are equal after defaulting. */
export function sameScheduler(a: string, b: string): boolean {
  return (a || defaultScheduler) === (b || defaultScheduler);
}

/**
 * Returns operations that add a scheduling hold: Pods stay pending, and an annotation records the scheduler to restore. Returns no operation
 * if the workload already has the hold.
 */
export function addSchedulingHold(workload: Workload, before?: Workload): readonly JsonPatchOperation[] {
  if (isSchedulingHeld(workload) && workload.schedulerToRestore !== undefined) return [];
  // "add" also replaces.
  return [
    { op: "add", path: schedulingHoldPath, value: intendedScheduler(workload, before) },
    { op: "add", path: schedulerPath, value: invalidScheduler },
  ];
}

/**
 * Returns operations that lift a scheduling hold. They restore the scheduler, unless a person has done so, and remove the annotation. They
 * restore an empty scheduler by removing the field. The API server then sets the default.
 */
export function liftSchedulingHold(workload: Workload, before?: Workload): readonly JsonPatchOperation[] {
  const name = intendedScheduler(workload, before);
  const restored: JsonPatchOperation =
    name === "" ? { op: "remove", path: schedulerPath } : { op: "replace", path: schedulerPath, value: name };
  return [
    ...(isSchedulingHeld(workload) ? [restored] : []),
    ...(workload.schedulerToRestore === undefined ? [] : [{ op: "remove", path: schedulingHoldPath } as const]),
  ];
}

/**
 * Returns the patch by which Wave gives up the ownership of the scheduler that it restored; undefined if it owns none, or if the hold exists.
 * Otherwise a server-side apply that sets another scheduler would conflict with Wave forever, and one without a scheduler would not remove
 * it. An apply patch cannot give up what another patch has written, so this patch edits `managedFields`, and fails if they have changed.
 */
export function disownScheduler(
  { template }: Pick<WorkloadRow, "template">,
  { managedFields = [] }: ObjectMeta,
  schedulerName: string | undefined,
): JsonPatch | undefined {
  if (schedulerName === invalidScheduler) return undefined;
  const field = `${template}/spec/schedulerName`.replaceAll("/", "/f:");
  const at = managedFields.findIndex(
    ({ manager, fieldsV1 }) =>
      (manager === fieldManager || manager === recordManager) && valueAtPointer(fieldsV1, field) !== undefined,
  );
  if (at < 0) return undefined;
  const entry = `/metadata/managedFields/${at}`;
  return [
    { op: "test", path: `${entry}/manager`, value: managedFields[at]?.manager },
    { op: "remove", path: `${entry}/fieldsV1${field}` },
  ];
}

/** Returns operations that fail if the scheduling hold has changed. For some kinds, an annotation does not raise the generation. */
export function testSchedulingHold(workload: Workload): readonly JsonPatchOperation[] {
  if (workload.schedulerToRestore === undefined) return [];
  return [{ op: "test", path: schedulingHoldPath, value: workload.schedulerToRestore }];
}

/**
 * The finalizer that early versions of Wave in Go added to workloads. Wave also adds it with `--owner-references`, to act when
 * a workload is deleted.
 */
export const oldFinalizer = "wave.pusher.com/finalizer";

/** Reports whether an object has the finalizer. Its deletion never ends until something removes the finalizer. */
export function hasOldFinalizer({ finalizers }: ObjectMeta): boolean {
  return finalizers?.includes(oldFinalizer) === true;
}

/**
 * The warning for the owner of such a workload. The ownerReferences must be removed first. Otherwise ConfigMaps and Secrets are
 * deleted with the workload, even if other workloads read them.
 */
export const oldFinalizerWarning: Warning = {
  reason: "OldFinalizer",
  message: `Finalizer ${oldFinalizer} blocks the deletion of this workload. An old Wave, or Wave with --owner-references, added it. Run Wave with --migrate-legacy. Wave first removes the ownerReferences to this workload from ConfigMaps and Secrets, so that Kubernetes does not delete these objects with the workload. Then Wave removes the finalizer.`,
};

/** Annotation of a Deployment: when Stakater Reloader paused it. */
const pausedAt = "deployment.reloader.stakater.com/paused-at";

/**
 * Reports whether Stakater Reloader paused a Deployment and stopped before it unpaused it. A Deployment that a person paused does not
 * have the annotation of Reloader.
 */
export function isPausedByReloader(
  { metadata, spec }: WorkloadObject,
  compatibility: CompatibilitySettings | undefined,
): boolean {
  if (compatibility?.understood.includes("stakater") !== true || metadata?.annotations?.[pausedAt] === undefined)
    return false;
  return spec !== undefined && "paused" in spec && spec.paused === true;
}

/** Operations that unpause a Deployment, as Stakater Reloader does. The test of the generation covers both fields. */
export const unpausePatch: readonly JsonPatchOperation[] = [
  { op: "remove", path: "/spec/paused" },
  { op: "remove", path: annotationPointer(pausedAt) },
];
