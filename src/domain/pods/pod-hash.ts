import { sapConfigHash } from "../compatibility/sap.ts";
import type { Workload } from "../model/workload.ts";
import { configHash, workloadRefHash } from "../references/annotations.ts";

/** Which annotation of a pod template has the hash of a workload. */
export type HashPlace = Pick<Workload, "hashAnnotation" | "templateSource">;

/** The annotations of a Pod or of a stored pod template. */
type PodAnnotations = Readonly<Record<string, unknown>>;

/**
 * Returns the hash of a workload that its Pod or its stored pod template has; undefined if absent. The pod template may also have the hash of
 * another workload: that of a Rollout whose `workloadRef` names this workload, or that of the Deployment that a `workloadRef` names.
 */
export function podHash(
  annotations: PodAnnotations,
  { hashAnnotation, templateSource }: HashPlace,
): string | undefined {
  const names = templateSource === undefined ? [hashAnnotation] : [workloadRefHash, configHash, sapConfigHash];
  return names.map((name) => annotations[name]).find((hash) => typeof hash === "string");
}

/** Returns the annotations that {@link podHash} reads for any workload. */
export function hashAnnotations(annotations: PodAnnotations): PodAnnotations {
  const names = [configHash, workloadRefHash, sapConfigHash].filter((name) => annotations[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, annotations[name]]));
}
