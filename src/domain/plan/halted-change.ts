import { findConfig, type Lookup } from "../config/view-of-references.ts";
import { type Workload, workloadKey } from "../model/workload.ts";
import { batchMember } from "../pacing/batch-member.ts";
import { admitBatch, type BatchMember } from "../pacing/batches.ts";
import type { Policy } from "../policy/policy.ts";
import { rolloutPolicyOf } from "../policy/rollout-policy.ts";
import { type ConfigName, configKey } from "../references/references.ts";
import { plannedFacts } from "./batch-facts.ts";
import { decide } from "./decide.ts";

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
 * Reports whether the last change of an object is halted for a workload: too many other workloads failed with the change, and no person resumed
 * the workload. It follows from the API alone, as for a leader that has just started, so each replica finds the same. A rollout whose progress
 * only the leader has seen may look failed too early.
 *
 * Costs one plan of each reader only if a reader has failed.
 */
export function isHaltedFor(workload: Workload, { object, readers, lookup, policyOf, now }: ChangeFacts): boolean {
  const policy = policyOf(workload);
  const { pacing: flags } = policy;
  if (flags === undefined || flags.maxConcurrent === 0 || flags.haltAfterFailures === 0) return false;
  if (!rolloutPolicyOf(workload, policy).batches.value) return false;
  const config = configKey(object);
  const changedAt = (findConfig(lookup, object)?.changedAt ?? 0) * 1000;
  const memberOf = (reader: Workload): BatchMember | undefined => {
    const rules = policyOf(reader);
    // The status does not show when a rollout last made progress, or when it completed.
    const since = reader.rolledAt * 1000;
    const moment = { now, changes: undefined, lastWrite: undefined, progressSince: since };
    const facts = {
      key: workloadKey(reader),
      workload: reader,
      policy: rolloutPolicyOf(reader, rules),
      ...plannedFacts(decide({ workload: reader, lookup, policy: rules, moment }), config),
      lastWrite: undefined,
      completeSince: since,
      advancedAt: undefined,
      completeMs: 0,
    };
    return batchMember(facts, config, { changedAt, seenAt: undefined }, lookup, flags, now);
  };
  if (!readers.some((reader) => mayHaveFailed(reader) && memberOf(reader)?.stage.state === "failed")) return false;
  const members = readers.flatMap((reader) => memberOf(reader) ?? []);
  const { halted, admitted } = admitBatch({ object, namespace: workload.namespace, members }, flags);
  return halted && !admitted.has(workloadKey(workload));
}

function mayHaveFailed({ progress, rejected }: Workload): boolean {
  return rejected !== undefined || progress.state === "failed" || progress.state === "progressing";
}
