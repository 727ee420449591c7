import { backoffMs } from "../../../runtime/timers.ts";
import { done, type Result } from "../../../runtime/workers.ts";
import type { ReconcileOutcome } from "./outcome.ts";
import type { WorkloadMemory } from "./workload-memory.ts";

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
export function resultOf(
  memory: WorkloadMemory,
  outcome: ReconcileOutcome | "bug",
  now: number,
  random: () => number,
): Result {
  if (outcome === "bug") return { type: "rejected" };
  switch (outcome.type) {
    case "done":
    case "written": {
      if (!outcome.cachesBehind) return keepsFailures(outcome) ? deferredTo(memory, now) : untilNextEvent(memory, now);
      const { baseMs, retryMaxMs, rejectedMaxMs } = rolloutBackoff;
      const maxMs = memory.disagreements <= runsUntilSlow ? retryMaxMs : rejectedMaxMs;
      return { type: "requeueAfter", delayMs: backoffMs(memory.disagreements - 1, { baseMs, maxMs, random }) };
    }
    case "permitPending":
      return { type: "deferred" };
    case "gone":
      return done;
    case "refused":
      return { type: "rejected" };
    case "conflict":
    // If the leadership continues, the retry loses nothing. If it is over, the queue is closed.
    case "stopped":
      return { type: "retry" };
    case "unavailable":
      return { type: "retry", atLeastMs: outcome.retryAfterMs };
  }
}

/**
 * Reports whether a run shows nothing about the failures before it: the due write was held. Otherwise a refused write that waits for its batch
 * between two tries would be retried without growing delays.
 */
export function keepsFailures(outcome: ReconcileOutcome): boolean {
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
function untilNextEvent({ blockers, hold, checkAtMonotonic }: WorkloadMemory, now: number): Result {
  const times = [blockers?.repeatAt, hold?.untilMonotonic, hold?.closesAtMonotonic, checkAtMonotonic];
  if (hold !== undefined && hold.reportAt > now) times.push(hold.reportAt);
  const next = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(next) ? { type: "requeueAfter", delayMs: Math.max(leastDelayMs, next - now) } : done;
}
