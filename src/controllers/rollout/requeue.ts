import { backoffMs } from "../../runtime/backoff.ts";
import type { Outcome } from "./record/outcome.ts";
import type { WorkloadRecord } from "./record/workload-record.ts";

/**
 * How long a workload waits after a failure, doubling with each up to this: what is refused stays so in most cases, but
 * an API server that cannot answer, and caches that are behind, come back any moment.
 */
const baseMs = 200;
const longestMs = { refused: 300_000, unavailable: 15_000 };

/** Timers may come as much too early. */
const timersMs = 5;

/**
 * After how many tries, some two minutes, caches that do not agree with what is stored are no longer taken to come back
 * any moment: they never agree where a workload may do without a Secret that the lists leave out.
 */
const triesToAgree = 14;

/**
 * In how many milliseconds a workload is planned again even if nobody asks for it, by how its run ended ("bug": it
 * threw); undefined where somebody will ask. Counts failures in the record, but not tries that somebody asked for
 * sooner: whoever edits while a write is refused does not make it wait longer once it is allowed.
 */
export function requeueAfterMs(
  record: WorkloadRecord,
  outcome: Outcome | "bug",
  now: number,
  random: () => number,
): number | undefined {
  const wait = (tries: number, maxMs: number) => backoffMs(tries, { baseMs, maxMs, random });
  const failed = (maxMs: number) => {
    if (record.retryAt === undefined || now >= record.retryAt - timersMs) record.failures++;
    const ms = wait(record.failures - 1, maxMs);
    record.retryAt = now + ms;
    return ms;
  };
  if (outcome === "bug") return failed(longestMs.refused);
  switch (outcome.type) {
    case "settled":
    case "written":
      record.failures = 0;
      record.retryAt = undefined;
      if (outcome.ahead) {
        const maxMs = record.disagreements < triesToAgree ? longestMs.unavailable : longestMs.refused;
        return wait(record.disagreements++, maxMs);
      }
      record.disagreements = 0;
      return nextMs(record, now);
    case "paced": // it is in line
    case "gone":
      return undefined;
    case "refused":
      return failed(longestMs.refused);
    case "conflict":
    // Where the term goes on all the same nothing is lost, and where it is over the queue is closed.
    case "stopped":
      return failed(longestMs.unavailable);
    case "unavailable":
      return Math.max(outcome.retryAfterMs, failed(longestMs.unavailable));
  }
}

/** A hold whose end is past, and which holds all the same, is looked at again after this: two clocks tell of one moment. */
const atLeastMs = 10;

/**
 * When something ends or is to be told although nobody asks: a hold, the window of what is held, what is told of it once it has lasted, and what
 * stands against a workload, again before its Event expires.
 */
function nextMs({ standing, hold }: WorkloadRecord, now: number): number | undefined {
  const times = [standing?.tellAgainAt, hold?.until, hold?.closesAt];
  if (hold !== undefined && hold.tellAt > now) times.push(hold.tellAt);
  const next = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(next) ? Math.max(atLeastMs, next - now) : undefined;
}
