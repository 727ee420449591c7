import { type ConfigChange, storedTimeOf } from "../../../domain/config/view-of-references.ts";
import { holdRows } from "../../../domain/pacing/holds.ts";
import type { ReconcileOutcome } from "./outcome.ts";
import { changesAfter, heldByAfter, type RememberedHold, type UnsettledChanges } from "./pacing-memory.ts";
import { keepsFailures } from "./requeue.ts";
import type { Findings, ReportedBlockers, UnpinnedPods, WorkloadMemory, Writable } from "./workload-memory.ts";
import { isHealthy, stateAfter } from "./workload-state.ts";

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
  readonly outcome: ReconcileOutcome | "bug";
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
  Object.assign(memory, run.findings);
  memory.hold = run.hold;
  memory.blockers = run.blockers;
  memory.finishedRuns = start.requestedRuns;
  const isCovered = memory.requestedRuns === start.requestedRuns && !hasNewChanges(memory, start);
  memory.unpublishedSince = memory.isPublished && isCovered ? undefined : (memory.unpublishedSince ?? now);
  memory.state = stateAfter(memory.state, outcome);
  memory.unhealthySince = isHealthy(memory.state) ? undefined : (memory.unhealthySince ?? now);
  memory.logged = loggedAfter(memory.logged, outcome);
  if (outcome !== "bug") {
    memory.heldBy = heldByAfter(memory.heldBy, outcome, run.hold, now);
    memory.changes = changesAfter(memory.changes, outcome, start.changes);
    memory.changeInProgressSince = isInProgress(outcome, run.hold) ? inProgressSince : undefined;
    if (outcome.type === "done" || outcome.type === "written") {
      memory.disagreements = outcome.cachesBehind ? memory.disagreements + 1 : 0;
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
function isAnswered(outcome: ReconcileOutcome | "bug", hold: RememberedHold | undefined): boolean {
  if (outcome === "bug" || (outcome.type !== "done" && outcome.type !== "written")) return false;
  return hold?.reason !== "settling";
}

/** Returns the failure that is logged: once until the workload succeeds, because its owner decides how often it fails. */
function loggedAfter(before: WorkloadMemory["logged"], outcome: ReconcileOutcome | "bug"): WorkloadMemory["logged"] {
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
