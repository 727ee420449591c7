import type { Caches } from "../../../cache/caches.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { BatchMember } from "../../../domain/pacing/batches.ts";
import { hasLostItsHash } from "../../../domain/pacing/lost-hash.ts";
import { stageOf } from "../../../domain/pacing/stage.ts";
import type { PacingFlags } from "../../../domain/policy/pacing-flags.ts";
import type { Policy } from "../../../domain/policy/policy.ts";
import { noPolicy } from "../../../domain/policy/policy-annotations.ts";
import { type RolloutPolicy, rolloutPolicyOf } from "../../../domain/policy/rollout-policy.ts";
import type { Clock } from "../../../lib/clock.ts";
import { hasCaughtUp } from "../freshness/caught-up.ts";
import { newestOf, type WorkloadRecord } from "../record/workload-record.ts";

/** What is known of workloads. */
export interface BatchFacts {
  readonly clock: Clock;
  readonly caches: Pick<Caches, "lookup" | "workload">;
  readonly policy: Policy;
  readonly flags: PacingFlags;
  readonly record: (key: string) => WorkloadRecord | undefined;
}

/**
 * Where a workload stands in line for one change: it "goes" (it may be written, and is not yet), it is "due", it is
 * "heldElsewhere", or "no".
 */
export type InLine = "goes" | "due" | "heldElsewhere" | "no";

/** A change of an object. Times are milliseconds since the epoch. */
export interface ChangeTimes {
  /** As the API tells it, to the second. */
  readonly changedAt: number;
  /** When this process saw it, or began; undefined where that is not known any more. */
  readonly seenAt: number | undefined;
}

/** One that workloads of one namespace read. */
export interface ChangeInNamespace extends ChangeTimes {
  readonly namespace: string;
  /** The key of the object. */
  readonly config: string;
  /** Whether one that is still to be planned is waited for: it may be due, and go before all others. */
  readonly waitsForPlans: boolean;
}

/**
 * Those of `keys` that a change concerns, and how far each is with it; undefined where one of them is to be waited for.
 */
export function membersOf(
  change: ChangeInNamespace,
  keys: Iterable<string>,
  inLine: (key: string) => InLine,
  facts: BatchFacts,
): readonly BatchMember[] | undefined {
  const { namespace, waitsForPlans } = change;
  const { caches, clock, policy } = facts;
  const ofNamespace = rolloutPolicyOf({ policy: noPolicy, namespace }, policy);
  const now = clock.monotonic();
  const members: BatchMember[] = [];
  for (const key of keys) {
    const cached = caches.workload(key);
    if (cached === undefined || cached.deleting || cached.optIn.state !== "in") continue;
    const own = cached.policy === noPolicy ? ofNamespace : rolloutPolicyOf(cached, policy);
    if (!own.batches.value) continue;
    const record = facts.record(key);
    const state = inLine(key);
    if (waitsForPlans && state !== "goes" && isToBePlanned(record, now)) return undefined;
    const newest = record === undefined ? cached : newestOf(record, cached, now);
    const stage = stageIn(newest, record, state, change, own, facts);
    if (stage !== undefined) members.push({ key, priority: own.priority.value, stage });
  }
  return members;
}

/** Whether a workload was asked for since it was last planned, or what it reads has just settled. */
function isToBePlanned(record: WorkloadRecord | undefined, now: number): boolean {
  if (record === undefined || record.asked > record.planned) return true;
  return record.hold?.reason === "settling" && record.hold.until !== undefined && record.hold.until <= now;
}

function stageIn(
  workload: Workload,
  record: WorkloadRecord | undefined,
  inLine: InLine,
  { config, changedAt, seenAt }: ChangeInNamespace,
  { resumedAt: resumed }: RolloutPolicy,
  { clock, flags, caches }: BatchFacts,
): BatchMember["stage"] | undefined {
  const now = clock.wall();
  const onWall = (at: number) => now - (clock.monotonic() - at);
  // Its status is still that of the rollout before. It begins now or later.
  if (inLine === "goes") return { state: "underWay", until: now + flags.rolloutTimeoutMs };
  if (inLine === "heldElsewhere") return { state: "heldElsewhere" };
  const { stands } = record ?? {};
  const written = record?.written?.uid === workload.uid ? record.written : undefined;
  const writtenAt = written && onWall(written.at);
  // Before this process nobody remembers what was written.
  const isHeld = record?.hold !== undefined && record.hold.changed === undefined;
  const reverted = written ? written.hash !== workload.recordedHash : isHeld && hasLostItsHash(workload, caches.lookup);
  const completeSince = stands?.step === "complete" ? onWall(stands.since) : undefined;
  const due = inLine === "due";
  const soaked = stands?.hash === workload.recordedHash && (stands?.completeMs ?? 0) >= Math.max(1, flags.soakMs);
  const isDueForIt = record?.hold?.changed?.has(config) ?? false;
  const behind = record !== undefined && isDueForIt && hasCaughtUp(record, workload);
  const known = { behind, writtenAt, reverted, completeSince, soaked };
  return stageOf({ workload, due, changedAt, seenAt, ...known, resumed }, flags, now);
}
