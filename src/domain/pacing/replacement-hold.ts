import type { Lookup } from "../config/view-of-references.ts";
import type { Workload } from "../model/workload.ts";
import type { Hold } from "../outcomes/hold.ts";
import type { DueDecision } from "../outcomes/outcomes.ts";
import type { Policy } from "../policy/policy.ts";
import type { DueWrite } from "./due.ts";
import { dueWrite } from "./holds.ts";
import { interval } from "./interval.ts";
import { clusterHeld, hold, invalid, observed, window } from "./requested-holds.ts";

/**
 * The checks that hold a replacement of Pods with an unchanged hash, in the order of those for rollouts. An approval is not among them: the
 * configuration of the recorded hash was approved when it was rolled.
 */
const checks: readonly ((due: DueWrite) => Hold | undefined)[] = [
  observed,
  clusterHeld,
  invalid,
  hold,
  window,
  interval,
];

/** Returns what holds a replacement of Pods that run another configuration than that of the recorded hash; undefined if nothing does. */
export function replacementHold(
  workload: Workload,
  decision: Extract<DueDecision, { readonly outcome: "roll" }>,
  lookup: Lookup,
  policy: Policy,
  now: number,
): Hold | undefined {
  const moment = { now, changes: undefined, lastWrite: undefined, progressSince: now };
  const due = dueWrite(workload, decision, lookup, policy, moment);
  for (const check of checks) {
    const found = check(due);
    if (found !== undefined) return found;
  }
  return undefined;
}
