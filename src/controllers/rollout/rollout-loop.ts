// The loop of the leader: take the key of a workload, decide, act, remember, and return when the key is due again.
import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import { unpaced } from "../../domain/policy/policy.ts";
import type { Priority } from "../../runtime/fair-queue.ts";
import type { Result } from "../../runtime/workers.ts";
import type { ControllerPermits } from "../../runtime/write-permits.ts";
import type { BatchQueue } from "./batches/batch-queue.ts";
import { endOfRollout } from "./follow-up.ts";
import { type AlertGate, needsAlerts } from "./gate/alert-gate.ts";
import { type FinishedRun, finish, hasNewChanges, startRun } from "./memory/finish.ts";
import { holdAfter } from "./memory/pacing-memory.ts";
import type { RememberedViews } from "./memory/remembered-views.ts";
import { checkBy, resultOf } from "./memory/requeue.ts";
import type { WorkloadMemories } from "./memory/workload-memories.ts";
import { findingsOf, type WorkloadMemory } from "./memory/workload-memory.ts";
import type { NewPodsWatch } from "./new-pods/new-pods-watch.ts";
import { reconcile } from "./reconcile.ts";
import type { ReconcileOptions, ReconcileRun } from "./reconcile-run.ts";
import type { OutcomeReport } from "./report/outcome-report.ts";

/** What the runs of all workloads share, for one leadership. */
export interface RolloutLoop {
  readonly memories: WorkloadMemories;
  readonly views: RememberedViews;
  readonly permits: ControllerPermits;
  /** The permits of the notes on workloads, which come after all rollouts. */
  readonly notePermits: ControllerPermits;
  readonly newPods: NewPodsWatch;
  /** Undefined if there is no alert gate. */
  readonly gate: AlertGate | undefined;
  /** Undefined if batches are off. */
  readonly batches: BatchQueue | undefined;
  readonly report: OutcomeReport;
  readonly reconciling: ReconcileOptions;
  readonly random: () => number;
  /** Enqueues a workload because of changes that were seen during its run. */
  readonly again: (key: string, priority: Priority) => void;
  /** Receives the namespace of a workload with a scheduling hold that waits for missing objects, after each of its runs. */
  readonly onWaiting: (namespace: string) => void;
}

/** Runs one workload. Returns when its key is due again. A key must never run twice at once. */
export async function runWorkload(key: string, loop: RolloutLoop): Promise<Result> {
  const { reconciling: options, report } = loop;
  const { clock } = options;

  // Take: changes that are seen from here on belong to the next run.
  const memory = loop.memories.of(key);
  const priority = priorityOf(memory);
  const start = startRun(memory);
  const batch = loop.batches?.startRun(key);
  const slowAt = loop.newPods.watchIfSlow(key);
  const permits = permitsOf(key, priority, loop);
  const run: ReconcileRun = {
    ...permits,
    key,
    memory,
    findings: findingsOf(memory),
    batchHold: batch?.holdOf ?? (() => undefined),
    isBatchBehind: batch?.isBehind ?? (() => false),
  };
  const { findings } = run;

  let ended: Pick<FinishedRun, "outcome" | "hold" | "blockers">;
  try {
    // Decide, act and report.
    const outcome = await reconcile(run, options);
    if (slowAt !== undefined && slowAt > clock.monotonic()) checkBy(findings, slowAt);
    const hold = holdAfter(memory.hold, outcome, clock);
    const end = endOfRollout(outcome, run, options);
    const failure = findings.reportedRollout?.failure;
    ended = { outcome, hold, blockers: report.ended(memory, start, outcome, hold, { end, failure }) };
  } catch (error) {
    report.failed(key, memory, error);
    ended = { outcome: "bug", hold: memory.hold, blockers: memory.blockers };
  }
  const { outcome } = ended;

  // Remember, and pass on what others wait for.
  finish(memory, { ...ended, start, findings, now: clock.monotonic() });
  if (hasNewChanges(memory, start)) loop.again(key, priority);
  batch?.ended(outcome);
  if (needsAlerts(memory, options.policy.pacing ?? unpaced, clock.monotonic())) loop.gate?.wake();
  permits.drop(outcome !== "bug" && outcome.type === "permitPending");
  if (outcome !== "bug" && outcome.type === "done" && outcome.plan.outcome === "waiting") {
    const { workload } = outcome;
    if (isSchedulingHeld(workload)) loop.onWaiting(workload.namespace);
  }
  if (outcome !== "bug" && outcome.type === "gone") {
    loop.views.forget(key);
    loop.memories.delete(key);
  }

  // When the key is due again.
  return resultOf(memory, outcome, clock.monotonic(), loop.random);
}

/** Returns the permits of one run. `drop` gives up those that it waits for no longer. */
function permitsOf(key: string, priority: Priority, { permits, notePermits }: RolloutLoop) {
  let noteWaits = false;
  return {
    takePermit: () => permits.take(key, priority),
    returnPermit: () => permits.giveBack(),
    takeNotePermit: () => {
      noteWaits = !notePermits.take(key, "low");
      return !noteWaits;
    },
    drop: (isPending: boolean) => {
      if (!isPending) permits.drop(key);
      if (!noteWaits) notePermits.drop(key);
    },
  };
}

/** Returns the priority of a workload: single changes go first, also when they are retried. */
export function priorityOf(memory: WorkloadMemory | undefined): Priority {
  return memory?.changeSeenAt === undefined ? "low" : "high";
}
