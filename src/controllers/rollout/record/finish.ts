import { type ConfigChange, storedTimeOf } from "../../../domain/config/stored-time.ts";
import { holdRows } from "../../../domain/pacing/holds.ts";
import type { ReconcileOutcome } from "./outcome.ts";
import { changesAfter, type HoldRecord, heldByAfter, type UnsettledChanges } from "./pacing-record.ts";
import { keepsFailures } from "./requeue.ts";
import type { Findings, ReportedBlockers, UnpinnedPods, WorkloadRecord, Writable } from "./workload-record.ts";
import { isHealthy, stateAfter } from "./workload-state.ts";

// The only functions that change a record. Each workload's run is: start, plan from a copy, effects, one `finish`.

/** What a run starts from. Changes that are seen later belong to the next run. */
export interface RunStart {
  readonly changeSeenAt: number | undefined;
  readonly requestedRuns: number;
  readonly changes: UnsettledChanges | undefined;
}

/** Everything that a run leaves behind. */
export interface FinishedRun {
  readonly start: RunStart;
  readonly outcome: ReconcileOutcome | "bug";
  readonly findings: Findings;
  readonly hold: HoldRecord | undefined;
  readonly blockers: ReportedBlockers | undefined;
  /** Monotonic milliseconds. */
  readonly now: number;
}

/** Records a request for a run, for changes since `since`: -Infinity if it is the first run of a leader. */
export function recordRequest(record: Writable<WorkloadRecord>, since: number): void {
  record.requestedRuns++;
  record.unpublishedSince ??= since;
}

/** Records that a single change, not a list, was seen. */
export function recordSeenChange(record: Writable<WorkloadRecord>, now: number): void {
  record.changeSeenAt ??= now;
}

/** Records that configuration of the workload changed and may still change. */
export function recordUnsettledChange(record: Writable<WorkloadRecord>, now: number, change: ConfigChange): void {
  const seconds = storedTimeOf(change);
  const storedAt = seconds === undefined ? undefined : seconds * 1000;
  const { first = now, storedFrom = storedAt } = record.changes ?? {};
  const earliest = storedFrom === undefined ? undefined : Math.min(storedFrom, storedAt ?? storedFrom);
  record.changes = { first, last: now, storedFrom: earliest, lastStored: storedAt };
  record.unpublishedSince ??= now;
}

/** Records that a workload has Pods that read no copy. */
export function recordUnpinned(record: Writable<WorkloadRecord>, unpinned: UnpinnedPods): void {
  record.unpinned = unpinned;
}

/** Starts a run and returns what it starts from. */
export function startRun(record: Writable<WorkloadRecord>): RunStart {
  const { changeSeenAt, requestedRuns, changes } = record;
  record.changeSeenAt = undefined;
  return { changeSeenAt, requestedRuns, changes };
}

/** Returns when the change was first seen for which a run was. */
export function changeStart(
  record: Pick<WorkloadRecord, "changeInProgressSince">,
  start: RunStart,
): number | undefined {
  return record.changeInProgressSince ?? start.changeSeenAt;
}

/** Stores what a run leaves behind. A run that failed with a bug keeps the pacing, so that the next run is not earlier. */
export function finish(record: Writable<WorkloadRecord>, run: FinishedRun): void {
  const { start, outcome, now } = run;
  const inProgressSince = changeStart(record, start);
  Object.assign(record, run.findings);
  record.hold = run.hold;
  record.blockers = run.blockers;
  record.finishedRuns = start.requestedRuns;
  const isCovered = record.requestedRuns === start.requestedRuns && !hasNewChanges(record, start);
  record.unpublishedSince = record.isPublished && isCovered ? undefined : (record.unpublishedSince ?? now);
  record.state = stateAfter(record.state, outcome);
  record.unhealthySince = isHealthy(record.state) ? undefined : (record.unhealthySince ?? now);
  record.logged = loggedAfter(record.logged, outcome);
  if (outcome !== "bug") {
    record.heldBy = heldByAfter(record.heldBy, outcome, run.hold, now);
    record.changes = changesAfter(record.changes, outcome, start.changes);
    record.changeInProgressSince = isInProgress(outcome, run.hold) ? inProgressSince : undefined;
    if (outcome.type === "done" || outcome.type === "written") {
      record.disagreements = outcome.cachesBehind ? record.disagreements + 1 : 0;
    }
  }
  if (!isAnswered(outcome, run.hold)) record.changeSeenAt = start.changeSeenAt ?? record.changeSeenAt;
}

/** Reports whether changes were seen during a run that requested no other run, because the workload was settling then. */
export function hasNewChanges({ changes }: Pick<WorkloadRecord, "changes">, start: RunStart): boolean {
  return changes !== undefined && changes !== start.changes;
}

/** Reports whether the change of a run is in progress without anyone's help: people and missing objects may take for ever. */
function isInProgress({ type }: ReconcileOutcome, hold: HoldRecord | undefined): boolean {
  if (type === "done") return hold !== undefined && holdRows[hold.reason].isShort;
  return type !== "written" && type !== "gone";
}

/** Reports whether a run has answered the change that it was for. */
function isAnswered(outcome: ReconcileOutcome | "bug", hold: HoldRecord | undefined): boolean {
  if (outcome === "bug" || (outcome.type !== "done" && outcome.type !== "written")) return false;
  return hold?.reason !== "settling";
}

/** Returns the failure that is logged: once until the workload succeeds, because its owner decides how often it fails. */
function loggedAfter(before: WorkloadRecord["logged"], outcome: ReconcileOutcome | "bug"): WorkloadRecord["logged"] {
  if (outcome === "bug") return "bug";
  switch (outcome.type) {
    case "done":
    case "written":
      return keepsFailures(outcome) ? before : undefined;
    case "refused":
      return "refused";
    default:
      return before;
  }
}
