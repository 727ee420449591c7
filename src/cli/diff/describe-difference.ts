import { counted, enumerated } from "../../domain/syntax/wording.ts";
import type { WorkloadDifference } from "./workload-difference.ts";
import { type DiffEffect, diffEffects } from "./diff-effects.ts";

/** What `wave diff` tells; docs/commands.md promises its fields. */
export interface Difference {
  readonly workloads: readonly WorkloadDifference[];
  /** What else a person should know of the manifests, a line each. */
  readonly notes: readonly string[];
}

/** How many of each effect, in one line: "2 workloads roll, 1 held". */
export function describeSummary({ workloads }: Pick<Difference, "workloads">): string {
  if (workloads.length === 0) return "No workload would roll.";
  const groups = Map.groupBy(workloads, ({ effect }) => effect);
  const told = Object.keys(diffEffects).flatMap((effect) => {
    const count = groups.get(effect as DiffEffect)?.length ?? 0;
    return count === 0 ? [] : [`${counted(count)} ${effect}`];
  });
  const all = `${counted(workloads.length)} ${workloads.length === 1 ? "workload is" : "workloads are"} concerned`;
  return `${all}: ${enumerated(told, told.length, (each) => each)}.`;
}

/** Why, in one line: what holds it after what changes, and what else decides when its Pods are replaced. */
export function describeReason({ reason, hold, notes }: WorkloadDifference): string {
  return [reason, ...(hold === null ? [] : [heldBy(hold)]), ...notes].join("; ");
}

function heldBy(hold: NonNullable<WorkloadDifference["hold"]>): string {
  const until = hold.until === null || hold.message.includes(hold.until) ? "" : ` (until ${hold.until})`;
  return hold.message + until;
}
