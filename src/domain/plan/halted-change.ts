import { findConfig, type Lookup } from "../config/view-of-references.ts";
import { type Workload, workloadKey } from "../model/workload.ts";
import type { BatchAdmission } from "../pacing/batches.ts";
import type { Policy } from "../policy/policy.ts";
import { isValidator, rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { type ConfigName, configKey } from "../references/references.ts";
import { decide } from "./decide.ts";
import { type PlannedWorkload, storedBatches } from "./stored-batches.ts";

/** What is known about a change of an object and about the workloads of a namespace that read the object. */
export interface ChangeFacts {
  readonly object: ConfigName;
  /** The workloads of one namespace that read the object. */
  readonly readers: readonly Workload[];
  readonly lookup: Lookup;
  readonly policyOf: (workload: Workload) => Policy;
  /** In milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Reports whether the last change of an object is halted for a workload: too many other workloads failed with the change, or a validator has not
 * passed, and no person resumed the workload. It follows from the API alone, as for a leader that has just started, so each replica finds the same. A rollout whose progress
 * only the leader has seen may look failed too early.
 *
 * Costs one plan of each reader only if a reader has failed.
 */
export function isHaltedFor(workload: Workload, { object, readers, lookup, policyOf, now }: ChangeFacts): boolean {
  const policy = policyOf(workload);
  const { pacing: flags } = policy;
  if (flags === undefined || flags.maxConcurrent === 0) return false;
  if (!rolloutPolicyOf(workload, policy).batches.value) return false;
  const config = configKey(object);
  const changedAt = (findConfig(lookup, object)?.changedAt ?? 0) * 1000;
  const planned = (reader: Workload): readonly [string, PlannedWorkload] => {
    const rules = policyOf(reader);
    // The status does not show when a rollout last made progress.
    const moment = { now, changes: undefined, lastWrite: undefined, progressSince: reader.rolledAt * 1000 };
    const plan = decide({ workload: reader, lookup, policy: rules, moment });
    return [workloadKey(reader), { workload: reader, policy: rolloutPolicyOf(reader, rules), plan }];
  };
  const admission = (of: readonly Workload[]) => {
    const workloads = new Map(of.map(planned));
    const { namespace } = workload;
    const readersOf = () => workloads.keys();
    const changeOf = () => ({ object, changedAt, seenAt: undefined });
    const facts = { namespace, workloads, only: config, readersOf, changeOf, lookup, flags, now };
    return storedBatches(facts).changes.get(config)?.admission;
  };
  const isStopped = (batch: BatchAdmission | undefined) => batch?.halted === true || batch?.validating === true;
  const mayStop = (reader: Workload) => isValidator(reader) || (flags.haltAfterFailures > 0 && mayHaveFailed(reader));
  const first = admission(readers.filter(mayStop));
  if (!first?.failed.size && !isStopped(first)) return false;
  const batch = admission(readers);
  return batch !== undefined && isStopped(batch) && !batch.admitted.has(workloadKey(workload));
}

function mayHaveFailed({ progress, rejected }: Workload): boolean {
  return rejected !== undefined || progress.state === "failed" || progress.state === "progressing";
}
