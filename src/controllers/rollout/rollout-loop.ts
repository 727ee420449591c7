// The loop of the leader: take the key of a workload, decide, act, remember, and return when the key is due again.
import { isSchedulingHeld } from "../../domain/model/scheduling-hold.ts";
import { MalformedWorkload } from "../../domain/model/workload.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { isDue } from "../../domain/outcomes/outcomes.ts";
import type { Priority } from "../../runtime/fair-queue.ts";
import type { Result } from "../../runtime/workers.ts";
import type { ControllerPermits } from "../../runtime/write-permits.ts";
import type { BatchQueue } from "./batches/batch-queue.ts";
import { endOfRollout, followUp } from "./follow-up.ts";
import { areCachesFresh, rememberNewest, takeNewest } from "./freshness/caught-up.ts";
import { type Planned, planLive, readUnlisted } from "./freshness/live-plan.ts";
import { outcomeWithoutCache, outcomeWithoutWrite } from "./freshness/uncertain-write.ts";
import { type AlertGate, needsAlerts } from "./gate/alert-gate.ts";
import { checkBy, type FinishedRun, finish, hasNewChanges, resultOf, startRun } from "./memory/finish.ts";
import type { ReconcileOutcome } from "./memory/outcome.ts";
import { holdAfter } from "./memory/pacing-memory.ts";
import type { WorkloadMemories } from "./memory/workload-memories.ts";
import { hasOtherTemplate, seenAnnotations, seenPins, type WorkloadMemory } from "./memory/workload-memory.ts";
import type { NewPodsWatch } from "./new-pods/new-pods-watch.ts";
import {
  mustNotWrite,
  needsVerificationFirst,
  planCached,
  planFromCaches,
  planNow,
  type ReconcileOptions,
  type ReconcileRun,
} from "./plan-workload.ts";
import type { OutcomeReport } from "./report/outcome-report.ts";
import { updateRejections } from "./update-rejections.ts";
import { writePlan } from "./write-plan.ts";

/** What the runs of all workloads share, for one leadership. */
export interface RolloutLoop {
  readonly memories: WorkloadMemories;
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
    findings: { ...memory.findings, isPublished: false },
    batch,
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
    ended = { outcome: { type: "bug" }, hold: memory.hold, blockers: memory.blockers };
  }
  const { outcome } = ended;

  // Remember, and pass on what others wait for.
  finish(memory, { ...ended, start, findings, now: clock.monotonic() });
  if (hasNewChanges(memory, start)) loop.again(key, priority);
  batch?.ended(outcome);
  if (needsAlerts(memory, options.policy.pacing, clock.monotonic())) loop.gate?.wake();
  permits.drop(outcome.type === "permitPending");
  if (outcome.type === "done" && outcome.plan.outcome === "waiting") {
    const { workload } = outcome;
    if (isSchedulingHeld(workload)) loop.onWaiting(workload.namespace);
  }
  if (outcome.type === "gone") {
    options.views.forget(key);
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

/** How many times a workload that changed during the run is read and planned again at once. */
const triesAtOnce = 3;

/**
 * Brings one workload to its plan, with at most one write of the plan. Notes on the workload, and Pods that keep it from its return, are further
 * writes. The decision is made by `decide`: from the caches, or from
 * live reads if the caches may be behind. A key must never be reconciled twice at once. Rejects only for a bug.
 */
export async function reconcile(run: ReconcileRun, options: ReconcileOptions): Promise<ReconcileOutcome> {
  try {
    return await followUp(await planAndWrite(run, options), run, options);
  } catch (error) {
    // The stored object is not a valid workload any more. If it becomes valid again, that is a change.
    if (error instanceof MalformedWorkload) return { type: "gone" };
    throw error;
  }
}

async function planAndWrite(run: ReconcileRun, options: ReconcileOptions): Promise<ReconcileOutcome> {
  const cached = options.caches.workload(run.key);
  if (cached === undefined) return outcomeWithoutCache(run.findings, options);
  const newest = await newestKnown(run, cached, options);
  if (newest.type !== "newest") return newest;
  let { workload } = newest;
  for (let attempt = 0; attempt < triesAtOnce; attempt++) {
    const planned = await planFromCaches(run, workload, attempt === 0, options);
    if (planned.type !== "planned") return planned;
    const due = await planBeforeWrite(run, cached, planned, attempt === 0, options);
    if (due.type !== "planned") return due;
    const outcome = await writePlan(run, cached, due, options);
    if (outcome.type !== "stale") return outcome;
    workload = outcome.workload;
  }
  return { type: "conflict", workload };
}

/** Returns the newest known state of a workload, after its rejections are written. Returns how the run ends if that is not possible now. */
async function newestKnown(
  { findings, takePermit }: ReconcileRun,
  cached: Workload,
  options: ReconcileOptions,
): Promise<{ readonly type: "newest"; readonly workload: Workload } | ReconcileOutcome> {
  const { clock } = options;
  let workload = takeNewest(findings, cached, clock.monotonic());
  const write = await updateRejections(findings, workload, { ...options, takePermit });
  switch (write?.type) {
    case "written":
      rememberNewest(findings, cached, write.after, clock.monotonic());
      workload = write.after;
      break;
    case "stale":
      return { type: "conflict", workload: write.newest };
    case "unavailable":
    case "refused":
      return { ...write, workload };
    case "gone":
    case "stopped":
    case "permitPending":
      return write;
  }
  findings.pins = seenPins(workload, findings.pins);
  findings.annotations = seenAnnotations(findings.annotations, workload);
  return { type: "newest", workload };
}

/**
 * Returns the plan that is to be written, from live reads if the caches may be behind, and takes a permit for it. `isFirst`: a permit is for one
 * write, however many tries the write needs. Returns how the run ends if there is nothing to write, or if Wave cannot write now.
 */
async function planBeforeWrite(
  run: ReconcileRun,
  cached: Workload,
  planned: Planned,
  isFirst: boolean,
  options: ReconcileOptions,
): Promise<Planned | ReconcileOutcome> {
  const { key, findings } = run;
  const { caches, clock, views } = options;
  const { workload, plan } = planned;
  const isFresh = areCachesFresh(findings, workload, plan, caches.syncedUpTo);
  let cachesNeedWrite = isDue(plan);
  const isUnverified = needsVerificationFirst(findings, workload, plan);
  if (!cachesNeedWrite && !isUnverified) {
    const unlisted = await readUnlisted(findings, workload, plan, options);
    if (unlisted === "none") return outcomeWithoutWrite(key, findings, workload, plan, views);
    if (unlisted !== "allExist") return unlisted;
  }
  if (mustNotWrite(options)) return { type: "stopped" };
  if (isFirst && !run.takePermit()) return { type: "permitPending" };
  if (isFresh) return planned;
  const live = await planLive(workload, plan, findings, (of, lookup) => planNow(run, of, lookup, options), options);
  if (live.type !== "planned") return live;
  if (hasOtherTemplate(findings.pins, live.workload)) {
    rememberNewest(findings, cached, live.workload, clock.monotonic());
    return { type: "conflict", workload: live.workload };
  }
  // Others may have shown an earlier change of the object, but not this one. It has a canary of its own when the caches have it.
  if (live.plan.outcome !== "held" && run.batch?.isBehind()) return { type: "conflict", workload: live.workload };
  if (isUnverified) cachesNeedWrite = isDue(planCached(run, live.workload, options));
  if (isDue(live.plan)) return live;
  run.returnPermit();
  const outcome = outcomeWithoutWrite(key, findings, live.workload, live.plan, views);
  return cachesNeedWrite ? { ...outcome, cachesBehind: true } : outcome;
}
