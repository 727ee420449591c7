import type { CompatibilitySettings } from "../compatibility/settings.ts";
import { annotationPointer, type JsonPatchOperation } from "../syntax/json-patch.ts";
import type { WorkloadObject } from "./workload-references.ts";

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
