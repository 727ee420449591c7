import { contentChangedAt } from "../config/digest.ts";
import { findConfig } from "../config/view-of-references.ts";
import { isComplete } from "../model/kind-row.ts";
import { type Workload, workloadKey } from "../model/workload-shape.ts";
import type { RolloutPlan } from "../outcomes/outcomes.ts";
import type { MemberFacts } from "../pacing/batch-member.ts";
import type { BatchAdmission } from "../pacing/batches.ts";
import { type BatchesFacts, type DerivedBatches, deriveBatches } from "../pacing/derive-batches.ts";
import { rolloutDeadline } from "../pacing/rollout-result.ts";
import { blockedBy } from "../pacing/validator.ts";
import type { PacingFlags } from "../policy/policy.ts";
import { isValidator, type Rules } from "../policy/rules.ts";
import { type ConfigName, configKey } from "../references/references.ts";
import { decide } from "./decide.ts";

/** What the batches of a namespace follow from if no process remembers anything. */
export interface StoredBatchesFacts
  extends Pick<BatchesFacts, "namespace" | "readersOf" | "changeOf" | "lookup" | "hashKeys" | "flags" | "now"> {
  /** The key of the only object whose change is derived. Default: all changes for which workloads are due. */
  readonly only?: string;
  /** The keys of objects whose change is derived even if no workload is due for it. Default: none. */
  readonly also?: readonly string[];
  /** The workloads of the namespace by their keys. */
  readonly workloads: ReadonlyMap<string, PlannedWorkload>;
}

/** A workload with its plan without batches, and what is known of its rollout beside its status. */
export interface PlannedWorkload extends Pick<MemberFacts, "rules"> {
  readonly workload: Workload;
  readonly plan: RolloutPlan;
  /** Returns what its Pods show. Default: they are not known. */
  readonly observe?: () => Pick<MemberFacts, "advancedAt" | "newPods">;
}

/** Derives the batches of a namespace from the API alone, as a leader that has just started does. */
export function storedBatches({ workloads, only, also = [], ...rest }: StoredBatchesFacts): DerivedBatches {
  const due = new Map<string, readonly string[]>();
  for (const [key, { plan }] of workloads) {
    const changed = plan.batched?.map(configKey) ?? [];
    due.set(key, only === undefined ? changed : changed.filter((config) => config === only));
  }
  const factsOf = (key: string): MemberFacts | undefined => {
    const known = workloads.get(key);
    return known && storedFacts(key, known);
  };
  return deriveBatches({ ...rest, due, also: only === undefined ? also : [only, ...also], factsOf });
}

function storedFacts(key: string, { workload, rules, plan, observe }: PlannedWorkload): MemberFacts {
  return {
    key,
    workload,
    rules,
    held:
      plan.outcome === "held"
        ? { reason: plan.hold.reason, changed: plan.changed && new Set(plan.changed.map(configKey)) }
        : undefined,
    blocked: plan.outcome === "waiting" ? blockedBy.missing : undefined,
    isCurrent: plan.outcome === "current",
    // Wave may have written it. The API shows only the result.
    lastWrite: undefined,
    // Without a time in the status, the rollout is taken as complete at once, which is soon correct.
    completeSince: workload.rolledAt * 1000,
    completeMs: 0,
    ...observe?.(),
  };
}

/** What is known about a change of an object and about the workloads of a namespace that read the object. */
interface ChangeFacts extends Pick<BatchesFacts, "lookup" | "now"> {
  readonly object: ConfigName;
  readonly readers: readonly Workload[];
  readonly rulesOf: (workload: Workload) => Rules;
}

/**
 * Reports whether the last change of an object is halted for a workload: too many other workloads failed with the change, or a validator has not
 * passed, and no person resumed the workload. It follows from the API alone, as for a leader that has just started, so each replica finds the same. A rollout whose progress
 * only the leader has seen may look failed too early.
 *
 * Costs one plan of each reader only if a reader has failed.
 */
export function isHaltedFor(workload: Workload, { object, readers, lookup, rulesOf, now }: ChangeFacts): boolean {
  const { pacing: flags, hashKeys, batches } = rulesOf(workload);
  if (flags.maxConcurrent === 0 || !batches.value) return false;
  const config = configKey(object);
  const changedAt = (contentChangedAt(findConfig(lookup, object)) ?? 0) * 1000;
  const planned = (reader: Workload): readonly [string, PlannedWorkload] => {
    const rules = rulesOf(reader);
    // The status does not show when a rollout last made progress.
    const moment = { now, changes: undefined, lastWrite: undefined, progressSince: reader.rolledAt * 1000 };
    const plan = decide({ workload: reader, lookup, rules, moment });
    return [workloadKey(reader), { workload: reader, rules, plan }];
  };
  const admission = (of: readonly Workload[]) => {
    const workloads = new Map(of.map(planned));
    const { namespace } = workload;
    const readersOf = () => workloads.keys();
    const changeOf = () => ({ object, changedAt, seenAt: undefined });
    const facts = { namespace, workloads, only: config, readersOf, changeOf, lookup, hashKeys, flags, now };
    return storedBatches(facts).changes.get(config)?.admission;
  };
  const isStopped = (batch: BatchAdmission | undefined) => batch?.halted === true || batch?.validating === true;
  const mayStop = (reader: Workload) =>
    isValidator(reader) ? !isComplete(reader) : flags.haltAfterFailures > 0 && mayHaveFailed(reader, flags, now);
  if (!readers.some(mayStop) && !isStopped(admission(readers.filter(isValidator)))) return false;
  const batch = admission(readers);
  return batch !== undefined && isStopped(batch) && !batch.admitted.has(workloadKey(workload));
}

function mayHaveFailed(
  { progress, rejected, failedAlert, rolledAt }: Workload,
  flags: PacingFlags,
  now: number,
): boolean {
  if (rejected !== undefined || failedAlert !== undefined) return true;
  if (progress.state !== "failed" && progress.state !== "progressing") return false;
  return rolloutDeadline(progress, rolledAt * 1000, flags, now, undefined) <= now;
}
