import type { Asking } from "../compatibility/directives.ts";
import { rolloutStrategy } from "../compatibility/stakater.ts";
import type { Annotations } from "../references/wave-annotations.ts";
import type { TemplateSource, WorkloadRow } from "./kind-row.ts";

/**
 * What brings Pods with a new hash:
 *
 * - "template": the hash in the pod template of the workload itself;
 * - "lender": the hash in the pod template that it borrows;
 * - "restart": its Pods are restarted;
 * - "run": it is run once beside its schedule;
 * - "replacement": another object in its place.
 *
 * With "lender" and "restart" the hash is recorded in an annotation of the workload, else in its pod template.
 */
export type RolledBy = "template" | "templateSource" | "restart" | "run" | "replacement";

/** What rolls an object of a kind with these annotations, whose pod template may be borrowed. */
export function rolledByOf(
  row: WorkloadRow,
  templateSource: TemplateSource | undefined,
  annotations: Annotations,
  { compatibility }: Asking,
): RolledBy {
  const mayRestart = row.restartAt !== undefined && compatibility?.understood.includes("stakater") === true;
  if (mayRestart && annotations[rolloutStrategy] === "restart") return "restart";
  return row.rolledBy ?? (templateSource === undefined ? "template" : "templateSource");
}

/**
 * Whether its Pods carry the hash with which they were made for as long as they are there: those that are restarted carry that of
 * before, of a lender's none is known to be its own, and those of a run end.
 */
export function podsCarryHash({ rolledBy }: { readonly rolledBy: RolledBy }): boolean {
  return rolledBy === "template";
}

/** Whether the hash of a workload stands in an annotation of its own, and not in its pod template. */
export function recordsBeside({ rolledBy }: { readonly rolledBy: RolledBy }): boolean {
  return rolledBy === "restart" || rolledBy === "templateSource";
}
