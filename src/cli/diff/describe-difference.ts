import { formatCount } from "../../domain/syntax/wording.ts";
import { sentences } from "../output/sentences.ts";
import { type DiffEffect, diffEffects } from "./diff-effects.ts";
import type { WorkloadDifference } from "./workload-difference.ts";

/** The result of `wave diff`; docs/commands.md promises its fields. */
export interface Difference {
  readonly workloads: readonly WorkloadDifference[];
  /** Remarks about the manifests, one line each. */
  readonly notes: readonly string[];
}

/** Returns the number of workloads by effect: "3 workloads affected: 2 roll, 1 held." */
export function describeSummary({ workloads }: Pick<Difference, "workloads">): string {
  if (workloads.length === 0) return "No workload is affected.";
  const groups = Map.groupBy(workloads, ({ effect }) => effect);
  const counts = Object.keys(diffEffects).flatMap((effect) => {
    const count = groups.get(effect as DiffEffect)?.length ?? 0;
    return count === 0 ? [] : [`${formatCount(count)} ${effect}`];
  });
  const all = `${formatCount(workloads.length)} ${workloads.length === 1 ? "workload" : "workloads"} affected`;
  return `${all}: ${counts.join(", ")}.`;
}

/** Returns one line for people: the change, the hold, and other settings that decide when Pods are replaced. */
export function describeReason({ reason, hold, notes }: WorkloadDifference): string {
  return sentences(reason, hold === null ? "" : describeHold(hold), ...notes);
}

function describeHold(hold: NonNullable<WorkloadDifference["hold"]>): string {
  return hold.until === null || hold.message.includes(hold.until)
    ? hold.message
    : sentences(hold.message, `Until ${hold.until}`);
}
