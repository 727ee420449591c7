import type { ConfigView } from "../../../domain/config/hash.ts";
import type { LegacyFinding } from "../../../domain/config/legacy/legacy-verification.ts";
import type { Workload } from "../../../domain/model/workload.ts";
import type { ReportedPlan } from "./outcome.ts";
import type { PacingRecord } from "./pacing-record.ts";
import type { WorkloadState } from "./workload-state.ts";

/**
 * All that is remembered of one workload during one term, and nowhere else. It is made when the workload is first asked
 * for and dropped when it is gone, so it must stay small. Times are on the monotonic clock.
 */
export interface WorkloadRecord extends PacingRecord {
  /** What the metrics count it as; undefined before it was planned. */
  state: WorkloadState | undefined;
  /** Since when it is not in order, whatever it was meanwhile; undefined where it is. */
  unhealthySince: number | undefined;
  /** When the first change was seen that is not written yet; undefined where a list or a timer asks. */
  seenAt: number | undefined;
  /** When the first change was seen that is on its way still, held by nothing but what ends by itself. */
  rollsSince: number | undefined;
  /** Counts how often it was asked for, and up to which of these it was planned. */
  asked: number;
  planned: number;
  /** How many runs have failed since the last that succeeded, without those that came before their time. */
  failures: number;
  /** When it is tried again by itself after the last failure. */
  retryAt: number | undefined;
  /** How many plans from what is stored in a row asked for no write where the caches asked for one. */
  disagreements: number;
  /** What was logged of it since it last succeeded, so that it is logged once. */
  logged: "refused" | "bug" | undefined;
  /** What it was last seen to see, so that a roll can say what changed. */
  view: ConfigView | undefined;
  /** The write of which no answer came, and what `written` is if it arrived. */
  uncertain:
    | {
        readonly before: Workload;
        readonly hash: string | undefined;
        readonly plan: ReportedPlan;
        readonly written: PacingRecord["written"];
      }
    | undefined;
  /** What was recorded on it when the caches were last seen to stand for that; undefined where they never were. */
  caughtUpWith: string | undefined;
  /** The Secrets that the lists may leave out and that did not exist when they were looked for; not to be looked for until. */
  lookedFor: { readonly names: string; readonly until: number } | undefined;
  /** What was found out about the hash that another controller recorded on it. */
  legacy: LegacyFinding | undefined;
  /** What is known to be newer than the cache. */
  newer: Newer | undefined;
  /** What stands against it, of which its owner was told. */
  standing: Standing | undefined;
}

/** A workload as the API server told it while the cache held another: the answer to a PATCH, or what was read after a conflict. */
export interface Newer {
  readonly cached: Workload;
  readonly newest: Workload;
  readonly expiresAt: number;
}

/** What stands against a workload as long as its plan says so, such as something missing. */
export interface Standing {
  /**
   * Digests of its Events, by uid, reason and message: a workload that was made anew under the same name has heard
   * nothing yet.
   */
  readonly told: readonly string[];
  /** The beginning of what is missing. */
  readonly waitingFor: string | undefined;
  /** When it is told again, before the Events expire. */
  readonly tellAgainAt: number;
}

/** The record of a workload of which nothing is known. */
export function newRecord(): WorkloadRecord {
  return {
    state: undefined,
    unhealthySince: undefined,
    seenAt: undefined,
    rollsSince: undefined,
    asked: 0,
    planned: 0,
    changes: undefined,
    written: undefined,
    stands: undefined,
    hold: undefined,
    failures: 0,
    retryAt: undefined,
    disagreements: 0,
    logged: undefined,
    view: undefined,
    uncertain: undefined,
    caughtUpWith: undefined,
    lookedFor: undefined,
    legacy: undefined,
    newer: undefined,
    standing: undefined,
  };
}

/** As in client-go's ControllerExpectations: a watch that lost an answer must not make Wave trust its memory for ever. */
const newerForMs = 30_000;

/**
 * Remembers `newest`, which the API server told while the cache held `cached`. Planning from the cache alone would write
 * the same hash twice in the moment before the watch brings the first write.
 */
export function learn(record: WorkloadRecord, cached: Workload, newest: Workload, now: number): void {
  record.newer = { cached, newest, expiresAt: now + newerForMs };
}

/** The newest known form of a workload of which the cache holds `cached`. */
export function newestOf(record: WorkloadRecord, cached: Workload, now: number): Workload {
  const { newer } = record;
  if (newer !== undefined && isBehind(cached, newer) && now < newer.expiresAt) return newer.newest;
  record.newer = undefined;
  return cached;
}

/**
 * A cache that still holds the same object has heard of nothing. One that holds another is behind only as long as that is older: its
 * generation does not say so where the hash is not in the pod template but in an annotation, as of a Rollout that is restarted.
 */
function isBehind(cached: Workload, { cached: before, newest }: Newer): boolean {
  return cached === before || (cached.uid === newest.uid && cached.resourceVersion < newest.resourceVersion);
}
