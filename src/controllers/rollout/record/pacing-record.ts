import type { HoldReason } from "../../../domain/decision/hold.ts";
import { isSchedulingHeld } from "../../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import { hasSettled } from "../../../domain/pacing/holds.ts";
import type { Moment } from "../../../domain/pacing/moment.ts";
import type { Held, RolloutPlan } from "../../../domain/plan/plan.ts";
import { configKey } from "../../../domain/references/references.ts";
import { sharedString } from "../../../domain/syntax/shared-string.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Outcome } from "./outcome.ts";

/** What is remembered of a workload so that it can be told when it may roll. Times are on the monotonic clock. */
export interface PacingRecord {
  /** The first and the last change of what it reads that was seen since its last plan by which all had settled. */
  changes: { readonly first: number; readonly last: number } | undefined;
  /** What was written to its pod template last, and to which object. */
  written: (NonNullable<Moment["written"]> & { readonly uid: string }) | undefined;
  /** How far its rollout is. */
  stands: StandsRecord | undefined;
  /** What keeps what is due from being written. */
  hold: HoldRecord | undefined;
}

/** Where the rollout of a hash stands. Times are on the monotonic clock. */
export interface StandsRecord {
  readonly hash: string | undefined;
  readonly step: number | string;
  readonly since: number;
  /** For how many milliseconds it was complete before it was as it is: one that loses a Pod later has not failed. */
  readonly completeMs: number;
}

/** What keeps what is due from being written, and since when. Times are on the monotonic clock. */
export interface HoldRecord {
  readonly reason: HoldReason;
  readonly since: number;
  /** The keys of the objects for whose changes it is due, where that is known. */
  readonly changed: ReadonlySet<string> | undefined;
  /** When it ends by itself. */
  readonly until: number | undefined;
  /** When its window closes, and something else is to be told. */
  readonly closesAt: number | undefined;
  /** From when on the owner is to be told of it. */
  readonly tellAt: number;
}

/** What ends by itself soon in most cases: of each rollout an Event that it comes would be as many as there are rollouts. */
const passing: readonly HoldReason[] = ["settling", "interval", "progressing", "batch"];
const passingMs = 30_000;

/** Whether a hold is of those that end by themselves soon in most cases. */
export function endsByItself({ reason }: Pick<HoldRecord, "reason">): boolean {
  return passing.includes(reason);
}

/** Notes that something that the workload reads has changed. */
export function noteChange(record: PacingRecord, now: number): void {
  record.changes = { first: record.changes?.first ?? now, last: now };
}

/** Whether it is held only until what it reads has settled, and will be planned again then at the latest. */
export function isSettling({ hold }: PacingRecord, now: number): boolean {
  return hold?.reason === "settling" && hold.until !== undefined && hold.until > now;
}

/**
 * Notes what came of a run: what holds the workload now, and which changes are rolled for. `seen` are the changes that were
 * noted when it began.
 */
export function notePlanned(record: PacingRecord, outcome: Outcome, seen: PacingRecord["changes"], clock: Clock): void {
  const plan = outcome.type === "settled" ? outcome.plan : undefined;
  record.hold = plan?.outcome === "held" ? holdRecord(plan, record, clock) : undefined;
  const settled = plan !== undefined && (plan.outcome !== "held" || hasSettled(plan.hold));
  if (outcome.type !== "written" && !settled) return;
  // Those that were seen meanwhile are still to be planned.
  const { changes } = record;
  record.changes = changes === seen || changes === undefined ? undefined : { first: changes.last, last: changes.last };
}

/** Notes how far its rollout is, and since when. A Pod that is lost again is no step: the time before it stays. */
export function noteProgress(record: PacingRecord, { recordedHash: hash, progress }: Workload, now: number): void {
  const step = progress.state === "progressing" ? progress.step : progress.state;
  const before = record.stands?.hash === hash ? record.stands : undefined;
  if (before?.step === step) return;
  if (typeof before?.step === "number" && typeof step === "number" && step < before.step) return;
  const completeMs = before?.step === "complete" ? now - before.since : 0;
  record.stands = { hash, step, since: now, completeMs: Math.max(before?.completeMs ?? 0, completeMs) };
}

/** What is to be noted of a write of `plan`: what was written last, if it makes new Pods. */
export function afterRoll(
  { written }: PacingRecord,
  before: Workload,
  plan: RolloutPlan,
  now: number,
): PacingRecord["written"] {
  if (plan.outcome !== "roll" && plan.outcome !== "firstHash") return written;
  if (before.recordedHash === plan.hash || isSchedulingHeld(before)) return written;
  const again = written !== undefined && written.uid === before.uid && written.hash === plan.hash;
  return {
    at: now,
    uid: before.uid,
    hash: sharedString(plan.hash),
    streak: plan.streak ?? 1,
    reverted: again ? written.reverted + 1 : 0,
  };
}

function holdRecord(
  { due, hold: { reason, until, closesAt, warning } }: Held,
  { hold: before }: PacingRecord,
  clock: Clock,
): HoldRecord {
  const now = clock.monotonic();
  const since = before?.reason === reason ? before.since : now;
  const tellAt = passing.includes(reason) && !warning ? since + passingMs : since;
  const onClock = (at: number | undefined) => at && now + at - clock.wall();
  const changed = due.outcome === "roll" && due.changed ? new Set(due.changed.map(configKey)) : undefined;
  return { reason, since, changed, until: onClock(until), closesAt: onClock(closesAt), tellAt };
}

/** What is known of a workload at this moment, with all times on the wall clock. */
export function momentOf(record: PacingRecord, { uid }: Workload, clock: Clock, batch: Moment["batch"]): Moment {
  const now = clock.wall();
  const monotonic = clock.monotonic();
  // Not noted as times of day: a clock that is put back would hold everything for as long.
  const onWall = (at: number) => now - (monotonic - at);
  const { changes, written, stands } = record;
  return {
    now,
    changes: changes && { first: onWall(changes.first), last: onWall(changes.last) },
    written: written?.uid === uid ? { ...written, at: onWall(written.at) } : undefined,
    standsSince: onWall(stands?.since ?? monotonic),
    batch,
  };
}
