// The batches of changes: which workloads roll first, and when the others follow. Admits keys; writes nothing.
import type { Caches } from "../../../cache/caches.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import {
  batchMember,
  type ChangeTimes,
  type MemberFacts,
  type QueuePosition,
} from "../../../domain/pacing/batch-member.ts";
import type { BatchMember } from "../../../domain/pacing/batches.ts";
import { type ClusterPolicy, policyFor } from "../../../domain/policy/cluster-policy.ts";
import type { PacingFlags } from "../../../domain/policy/pacing-flags.ts";
import { noPolicy } from "../../../domain/policy/policy-annotations.ts";
import { rolloutPolicyOf } from "../../../domain/policy/rollout-policy.ts";
import type { Clock } from "../../../lib/clock.ts";
import { hasCaughtUp } from "../freshness/caught-up.ts";
import { newestOf } from "../record/newest-workload.ts";
import { progressOf } from "../record/pacing-record.ts";
import type { WorkloadRecord } from "../record/workload-record.ts";

/** What {@link membersOf} needs to know about workloads. */
export interface BatchFacts {
  readonly clock: Clock;
  readonly caches: Pick<Caches, "lookup" | "workload">;
  readonly policy: ClusterPolicy;
  readonly flags: PacingFlags;
  readonly record: (key: string) => WorkloadRecord | undefined;
  /** Reports whether a container of the new Pods of a workload restarts again and again. */
  readonly restarts: (workload: Workload) => boolean;
}

/** A change of an object, for the workloads of one namespace. */
export interface ChangeInNamespace extends ChangeTimes {
  readonly namespace: string;
  /** The key of the object. */
  readonly config: string;
  /** Whether to wait for readers that still have to be reconciled: one of them may have to roll first. */
  readonly waitsForRuns: boolean;
}

/**
 * Returns the workloads among `keys` that a change concerns, and the stage of each. Undefined if one of them must be
 * reconciled first.
 */
export function membersOf(
  change: ChangeInNamespace,
  keys: Iterable<string>,
  positionOf: (key: string) => QueuePosition,
  facts: BatchFacts,
): readonly BatchMember[] | undefined {
  const { namespace, waitsForRuns } = change;
  const { caches, clock } = facts;
  const policy = policyFor({ namespace }, facts.policy);
  const ofNamespace = rolloutPolicyOf({ policy: noPolicy }, policy);
  const now = clock.monotonic();
  const members: BatchMember[] = [];
  for (const key of keys) {
    const cached = caches.workload(key);
    if (cached === undefined || cached.deleting || cached.optIn.state !== "in") continue;
    const own = cached.policy === noPolicy ? ofNamespace : rolloutPolicyOf(cached, policy);
    if (!own.batches.value) continue;
    const record = facts.record(key);
    const position = positionOf(key);
    const isAdmitted = position === "admitted" || position === "admittedIncomplete";
    if (waitsForRuns && !isAdmitted && mustBeReconciled(record, now)) return undefined;
    const newest = record === undefined ? cached : newestOf(record, cached, now);
    const known = {
      key,
      workload: newest,
      policy: own,
      position,
      ...knownFrom(record, newest, clock),
      restarts: facts.restarts(newest),
    };
    const member = batchMember(known, change.config, change, caches.lookup, facts.flags, clock.wall());
    if (member !== undefined) members.push(member);
  }
  return members;
}

/** Reports whether a run was requested since the last one, or the configuration of the workload has just settled. */
function mustBeReconciled(record: WorkloadRecord | undefined, now: number): boolean {
  if (record === undefined || record.requestedRuns > record.finishedRuns) return true;
  return record.hold?.reason === "settling" && record.hold.until !== undefined && record.hold.until <= now;
}

const noObjects: ReadonlySet<string> = new Set();

/** Returns what the record of a workload shows. A new process has no record of earlier writes. */
function knownFrom(
  record: WorkloadRecord | undefined,
  workload: Workload,
  clock: Clock,
): Pick<MemberFacts, "held" | "lastWrite" | "completeSince" | "advancedAt" | "completeMs"> {
  const { progress, hold, lastRollout } = record ?? {};
  const current = record && progressOf(record, workload);
  const onWall = (at: number) => clock.wall() - (clock.monotonic() - at);
  const isNewer = record !== undefined && hold?.changed !== undefined && hasCaughtUp(record, workload);
  return {
    held: hold && { changed: hold.changed && (isNewer ? hold.changed : noObjects) },
    lastWrite: lastRollout?.uid === workload.uid ? { ...lastRollout, at: onWall(lastRollout.at) } : undefined,
    completeSince: progress?.step === "complete" ? onWall(progress.since) : undefined,
    advancedAt: current && onWall(current.advancedAt),
    completeMs: current?.completeMs ?? 0,
  };
}
