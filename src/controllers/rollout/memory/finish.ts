import { type ConfigChange, storedTimeOf } from "../../../domain/config/view-of-references.ts";
import { holdRows } from "../../../domain/pacing/holds.ts";
import { backoffMs } from "../../../runtime/timers.ts";
import { done, type Result } from "../../../runtime/workers.ts";
import { isHealthy, type ReconcileOutcome, stateAfter } from "./outcome.ts";
import { changesAfter, heldByAfter, type RememberedHold, type UnsettledChanges } from "./pacing-memory.ts";
import type { Findings, ReportedBlockers, UnpinnedPods, WorkloadMemory, Writable } from "./workload-memory.ts";

// The only functions that change a memory. Each workload's run is: start, plan from a copy, effects, one `finish`.

/** What a run starts from. Changes that are seen later belong to the next run. */
export interface RunStart {
  readonly changeSeenAt: number | undefined;
  readonly requestedRuns: number;
  readonly changes: UnsettledChanges | undefined;
}

/** Everything that a run leaves behind. */
export interface FinishedRun {
  readonly start: RunStart;
  readonly outcome: ReconcileOutcome;
  readonly findings: Findings;
  readonly hold: RememberedHold | undefined;
  readonly blockers: ReportedBlockers | undefined;
  /** Monotonic milliseconds. */
  readonly now: number;
}

/** Remembers a request for a run, for changes since `since`: -Infinity if it is the first run of a leader. */
export function rememberRequest(memory: Writable<WorkloadMemory>, since: number): void {
  memory.requestedRuns++;
  memory.unpublishedSince ??= since;
}

/** Remembers that a single change, not a list, was seen. */
export function rememberSeenChange(memory: Writable<WorkloadMemory>, now: number): void {
  memory.changeSeenAt ??= now;
}

/** Remembers that configuration of the workload changed and may still change. */
export function rememberUnsettledChange(memory: Writable<WorkloadMemory>, now: number, change: ConfigChange): void {
  const seconds = storedTimeOf(change);
  const storedAt = seconds === undefined ? undefined : seconds * 1000;
  const { first = now, storedFrom = storedAt } = memory.changes ?? {};
  const earliest = storedFrom === undefined ? undefined : Math.min(storedFrom, storedAt ?? storedFrom);
  memory.changes = { first, last: now, storedFrom: earliest, lastStored: storedAt };
  memory.unpublishedSince ??= now;
}

/** Remembers that a workload has Pods that read no copy. */
export function rememberUnpinned(memory: Writable<WorkloadMemory>, unpinned: UnpinnedPods): void {
  memory.unpinned = unpinned;
}

/** Starts a run and returns what it starts from. */
export function startRun(memory: Writable<WorkloadMemory>): RunStart {
  const { changeSeenAt, requestedRuns, changes } = memory;
  memory.changeSeenAt = undefined;
  return { changeSeenAt, requestedRuns, changes };
}

/** Returns when the change was first seen for which a run was. */
export function changeStart(
  memory: Pick<WorkloadMemory, "changeInProgressSince">,
  start: RunStart,
): number | undefined {
  return memory.changeInProgressSince ?? start.changeSeenAt;
}

/** Stores what a run leaves behind. A run that failed with a bug keeps the pacing, so that the next run is not earlier. */
export function finish(memory: Writable<WorkloadMemory>, run: FinishedRun): void {
  const { start, outcome, now } = run;
  const inProgressSince = changeStart(memory, start);
  memory.findings = run.findings;
  memory.hold = run.hold;
  memory.blockers = run.blockers;
  memory.finishedRuns = start.requestedRuns;
  const isCovered = memory.requestedRuns === start.requestedRuns && !hasNewChanges(memory, start);
  memory.unpublishedSince = run.findings.isPublished && isCovered ? undefined : (memory.unpublishedSince ?? now);
  memory.state = stateAfter(memory.state, outcome);
  memory.unhealthySince = isHealthy(memory.state) ? undefined : (memory.unhealthySince ?? now);
  memory.logged = loggedAfter(memory.logged, outcome);
  if (outcome.type !== "bug") {
    memory.heldBy = heldByAfter(memory.heldBy, outcome, run.hold, now);
    memory.changes = changesAfter(memory.changes, outcome, start.changes);
    memory.changeInProgressSince = isInProgress(outcome, run.hold) ? inProgressSince : undefined;
    if (outcome.type === "done" || outcome.type === "written") {
      if (outcome.cachesBehind) memory.disagreements++;
      // Otherwise a workload that waits for its batch between two live reads would be read without growing delays.
      else if (!isHeld(outcome)) memory.disagreements = 0;
    }
  }
  if (!isAnswered(outcome, run.hold)) memory.changeSeenAt = start.changeSeenAt ?? memory.changeSeenAt;
}

/** Reports whether changes were seen during a run that requested no other run, because the workload was settling then. */
export function hasNewChanges({ changes }: Pick<WorkloadMemory, "changes">, start: RunStart): boolean {
  return changes !== undefined && changes !== start.changes;
}

/** Reports whether the change of a run is in progress without anyone's help: people and missing objects may take for ever. */
function isInProgress({ type }: ReconcileOutcome, hold: RememberedHold | undefined): boolean {
  if (type === "done") return hold !== undefined && holdRows[hold.reason].isShort;
  return type !== "written" && type !== "gone";
}

/** Reports whether a run has answered the change that it was for. */
function isAnswered({ type }: ReconcileOutcome, hold: RememberedHold | undefined): boolean {
  return (type === "done" || type === "written") && hold?.reason !== "settling";
}

/** Returns the failure that is logged: once until the workload succeeds, because its owner decides how often it fails. */
function loggedAfter(before: WorkloadMemory["logged"], outcome: ReconcileOutcome): WorkloadMemory["logged"] {
  switch (outcome.type) {
    case "done":
    case "written":
      return isHeld(outcome) ? before : undefined;
    case "refused":
    case "bug":
      return outcome.type;
    default:
      return before;
  }
}

/**
 * The delays of retries, in milliseconds: they double up to the longest. A refused write stays refused in most cases. An
 * API server that gives no answer, and a cache that is behind, may recover at any moment.
 */
export const rolloutBackoff = { baseMs: 200, retryMaxMs: 15_000, rejectedMaxMs: 300_000 };

/**
 * After this many runs, about two minutes, caches that disagree with the API server are not expected to agree soon. They
 * never agree if a workload can do without a Secret that the lists omit.
 */
const runsUntilSlow = 14;

/** A hold whose end is past, by one of two clocks, is checked again after this time. */
const leastDelayMs = 10;

/** Returns how the queue continues with a workload. `memory` is already finished with `outcome`. */
export function resultOf(memory: WorkloadMemory, outcome: ReconcileOutcome, now: number, random: () => number): Result {
  switch (outcome.type) {
    case "done":
    case "written": {
      if (!outcome.cachesBehind) return isHeld(outcome) ? deferredTo(memory, now) : untilNextEvent(memory, now);
      const { baseMs, retryMaxMs, rejectedMaxMs } = rolloutBackoff;
      const maxMs = memory.disagreements <= runsUntilSlow ? retryMaxMs : rejectedMaxMs;
      return { type: "requeueAfter", delayMs: backoffMs(memory.disagreements - 1, { baseMs, maxMs, random }) };
    }
    case "permitPending":
      return { type: "deferred" };
    case "gone":
      return done;
    case "refused":
    case "bug":
      return { type: "retry", maxMs: rolloutBackoff.rejectedMaxMs };
    case "conflict":
    // If the leadership continues, the retry loses nothing. If it is over, the queue is closed.
    case "stopped":
      return { type: "retry" };
    case "unavailable":
      return { type: "retry", atLeastMs: outcome.retryAfterMs };
  }
}

/**
 * Reports whether a due write was held, so that the run shows nothing about the failures before it. Otherwise a refused write that waits for its
 * batch between two tries would be retried without growing delays.
 */
function isHeld(outcome: ReconcileOutcome): boolean {
  return outcome.type === "done" && outcome.plan.outcome === "held";
}

/** Stores in `findings` that a workload is to be checked at `at`, or earlier. */
export function checkBy(findings: { checkAtMonotonic: number | undefined }, at: number): void {
  findings.checkAtMonotonic = Math.min(findings.checkAtMonotonic ?? Number.POSITIVE_INFINITY, at);
}

/** Returns the same as {@link untilNextEvent}, and keeps the failures of the workload. */
function deferredTo(memory: WorkloadMemory, now: number): Result {
  const next = untilNextEvent(memory, now);
  return next.type === "requeueAfter" ? { type: "deferred", delayMs: next.delayMs } : { type: "deferred" };
}

/** The next time at which something ends, or is to be reported, without a change: a hold, a window, or an Event that expires. */
function untilNextEvent({ blockers, hold, findings }: WorkloadMemory, now: number): Result {
  const times = [blockers?.repeatAt, hold?.untilMonotonic, hold?.closesAtMonotonic, findings.checkAtMonotonic];
  if (hold !== undefined && hold.reportAt > now) times.push(hold.reportAt);
  const next = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(next) ? { type: "requeueAfter", delayMs: Math.max(leastDelayMs, next - now) } : done;
}
