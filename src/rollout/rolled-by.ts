import type { Asking } from "./dialects/asked.ts";
import { rolloutStrategy } from "./dialects/stakater.ts";
import type { Annotations } from "./wave-annotations.ts";
import type { Lender, WorkloadRow } from "./workload-row.ts";

/**
 * What brings Pods with a new hash: that it is in the pod template, or in that of a lender; that they are restarted; a run beside the
 * schedule; or another object in its place. By the first and the last two it is recorded in the pod template, by the others in
 * an annotation of the object.
 */
export type RolledBy = "template" | "lender" | "restart" | "run" | "replacement";

/** What rolls an object of a kind with these annotations, whose pod template may be borrowed. */
export function rolledByOf(
  row: WorkloadRow,
  lender: Lender | undefined,
  annotations: Annotations,
  { dialects }: Asking,
): RolledBy {
  const mayRestart = row.restartAt !== undefined && dialects?.understood.includes("stakater") === true;
  if (mayRestart && annotations[rolloutStrategy] === "restart") return "restart";
  return row.rolledBy ?? (lender === undefined ? "template" : "lender");
}

/** Whether the hash of a workload stands in an annotation of its own, and not in its pod template. */
export function recordsBeside({ rolledBy }: { readonly rolledBy: RolledBy }): boolean {
  return rolledBy === "restart" || rolledBy === "lender";
}
