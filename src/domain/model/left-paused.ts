import type { CompatibilitySettings } from "../compatibility/settings.ts";
import { annotationPath, type JsonPatchOperation } from "../syntax/json-patch.ts";
import type { WorkloadObject } from "./workload-references.ts";

/** On a Deployment: since when Stakater's Reloader has it paused. */
const pausedAt = "deployment.reloader.stakater.com/paused-at";

/**
 * Whether Reloader paused a Deployment and ended before it resumed it. Nobody else does: what a person pauses has no such annotation.
 */
export function isLeftPaused(
  { metadata, spec }: WorkloadObject,
  compatibility: CompatibilitySettings | undefined,
): boolean {
  if (compatibility?.understood.includes("stakater") !== true || metadata?.annotations?.[pausedAt] === undefined)
    return false;
  return spec !== undefined && "paused" in spec && spec.paused === true;
}

/** Resumes it, as Reloader does. A Deployment's generation stands for both fields. */
export const resume: readonly JsonPatchOperation[] = [
  { op: "remove", path: "/spec/paused" },
  { op: "remove", path: `/metadata/annotations/${annotationPath(pausedAt)}` },
];
