import type { ObjectMeta } from "#kubernetes";
import type { CompatibilitySettings } from "../compatibility/directive.ts";
import type { Warning } from "../references/warning.ts";
import { annotationPointer, type JsonPatchOperation } from "../syntax/json.ts";
import type { WorkloadObject } from "./workload-references.ts";

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
