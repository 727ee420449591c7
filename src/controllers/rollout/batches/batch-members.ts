// The batches of changes: which workloads roll first, and when the others follow. Admits keys; writes nothing.
import type { Caches } from "../../../cache/caches.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { BatchMember } from "../../../domain/pacing/batches.ts";
import { hasLostHash } from "../../../domain/pacing/lost-hash.ts";
import { type StageFacts, stageOf } from "../../../domain/pacing/stage.ts";
import { type ClusterPolicy, policyFor } from "../../../domain/policy/cluster-policy.ts";
import type { PacingFlags } from "../../../domain/policy/pacing-flags.ts";
import { noPolicy } from "../../../domain/policy/policy-annotations.ts";
import { type RolloutPolicy, rolloutPolicyOf } from "../../../domain/policy/rollout-policy.ts";
import type { Clock } from "../../../lib/clock.ts";
import { hasCaughtUp } from "../freshness/caught-up.ts";
import { newestOf } from "../record/newest-workload.ts";
import type { WorkloadRecord } from "../record/workload-record.ts";

/** What {@link membersOf} needs to know about workloads. */
export interface BatchFacts {
  readonly clock: Clock;
  readonly caches: Pick<Caches, "lookup" | "workload">;
  readonly policy: ClusterPolicy;
  readonly flags: PacingFlags;
  readonly record: (key: string) => WorkloadRecord | undefined;
}

/** The position of a workload for one change: "admitted" (and not written yet), "due", "heldElsewhere", or "none". */
export type QueuePosition = "admitted" | "due" | "heldElsewhere" | "none";

/** A change of an object. Times are milliseconds since the epoch. */
export interface ChangeTimes {
  /** The time in the API, in whole seconds. */
  readonly changedAt: number;
  /** When this process saw the change, or started; undefined if that is no longer known. */
  readonly seenAt: number | undefined;
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
    if (waitsForRuns && position !== "admitted" && mustBeReconciled(record, now)) return undefined;
    const newest = record === undefined ? cached : newestOf(record, cached, now);
    const stage = stageIn(newest, record, position, change, own, facts);
    if (stage !== undefined) members.push({ key, priority: own.priority.value, stage });
  }
  return members;
}

/** Reports whether a run was requested since the last one, or the configuration of the workload has just settled. */
function mustBeReconciled(record: WorkloadRecord | undefined, now: number): boolean {
  if (record === undefined || record.requestedRuns > record.finishedRuns) return true;
  return record.hold?.reason === "settling" && record.hold.until !== undefined && record.hold.until <= now;
}

function stageIn(
  workload: Workload,
  record: WorkloadRecord | undefined,
  position: QueuePosition,
  { config, changedAt, seenAt }: ChangeInNamespace,
  { resumedAt: resumed }: RolloutPolicy,
  { clock, flags, caches }: BatchFacts,
): BatchMember["stage"] | undefined {
  const now = clock.wall();
  const onWall = (at: number) => now - (clock.monotonic() - at);
  // Its status is still that of the previous rollout. The new rollout starts now or later.
  if (position === "admitted") return { state: "underWay", until: now + flags.rolloutTimeoutMs };
  if (position === "heldElsewhere") return { state: "heldElsewhere" };
  const { progress, hold } = record ?? {};
  const lastRollout = record?.lastRollout?.uid === workload.uid ? record.lastRollout : undefined;
  // A new process has no record of earlier writes.
  const isHeldByOther = hold !== undefined && hold.changed === undefined;
  const soakedMs = progress?.hash === workload.recordedHash ? (progress?.completeMs ?? 0) : 0;
  const isBehind = record !== undefined && hold?.changed?.has(config) === true && hasCaughtUp(record, workload);
  const facts: StageFacts = {
    workload,
    due: position === "due",
    isDueForIt: isBehind,
    changedAt,
    seenAt,
    writtenAt: lastRollout && onWall(lastRollout.at),
    reverted: lastRollout
      ? lastRollout.hash !== workload.recordedHash
      : isHeldByOther && hasLostHash(workload, caches.lookup),
    completeSince: progress?.step === "complete" ? onWall(progress.since) : undefined,
    soaked: soakedMs >= Math.max(1, flags.soakMs),
    resumed,
  };
  return stageOf(facts, flags, now);
}
