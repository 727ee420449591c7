// The memory of the rollout controller: one memory for each workload. Only finish.ts changes a memory.

import { isDeepStrictEqual } from "node:util";
import type { LegacyVerification } from "../../../domain/config/legacy-hash.ts";
import { changedUserAnnotations, isUndone } from "../../../domain/model/undo-request.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import type { HoldReason } from "../../../domain/outcomes/outcomes.ts";
import type { MixedPods, UnrestoredPins } from "../../../domain/pacing/moment.ts";
import type { KnownSpans } from "../../../domain/pods/spans.ts";
import type { Annotations } from "../../../domain/references/annotations.ts";
import type { Reference } from "../../../domain/references/references.ts";
import type { PlanSummary, ReportedRollout, WorkloadState } from "./outcome.ts";
import type {
  FailedAlert,
  PodsRead,
  RememberedHold,
  RememberedProgress,
  RolloutWrite,
  UnsettledChanges,
} from "./pacing-memory.ts";

/** Makes the fields of a memory writable: for the functions of finish.ts, and for the findings of one run. */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** What runs find out about a workload. A run changes its own copy, which `finish` stores. */
export interface Findings {
  /** The state that is known to be newer than the cache. */
  readonly newerThanCache: NewerThanCache | undefined;
  /** The last write to its pod template, and the object. */
  readonly lastWrite: RolloutWrite | undefined;
  readonly progress: RememberedProgress | undefined;
  readonly reportedRollout: ReportedRollout | undefined;
  /** The write whose response was lost, and the value of `lastWrite` if the write arrived. */
  readonly uncertainWrite:
    | { readonly before: Workload; readonly plan: PlanSummary; readonly lastWrite: RolloutWrite | undefined }
    | undefined;
  /** What was recorded on the workload when the caches last matched it; undefined if they never did. */
  readonly caughtUpWith: RecordedConfiguration | undefined;
  /** Secrets that lists may omit and that did not exist when they were read. They are not read again before `untilMonotonic`. */
  readonly confirmedMissing: { readonly names: string; readonly untilMonotonic: number } | undefined;
  /** What the last list of its Pods has shown; undefined if they were not listed. */
  readonly pods: PodsRead | undefined;
  /** The verification of the hash that another controller recorded. */
  readonly legacy: LegacyVerification | undefined;
  readonly pins: SeenPins | undefined;
  /** The last pins that another client restored although some copies are gone; undefined if there were none. */
  readonly unrestored: UnrestoredPins | undefined;
  /** When time alone may change its last plan, apart from a hold; undefined: never. */
  readonly checkAtMonotonic: number | undefined;
  readonly annotations: SeenAnnotations | undefined;
  /** The pins of the last write of Wave, whether the write has arrived or not. */
  readonly writtenPins: string | undefined;
  /** When its live configuration differed from that of its hash, and its mixed Pods; undefined if nothing must be remembered. */
  readonly mixed: RememberedMixedPods | undefined;
  /** The uid of the workload whose noted spans this process has read. It reads a note once: afterwards it writes the notes. */
  readonly notedSpansOf: string | undefined;
  /** What is noted of its state; undefined if it is current and nothing was written. */
  readonly note: StateNote | undefined;
  /** The rollout that failed because an alert began to fire; undefined if none did. */
  readonly failedAlert: FailedAlert | undefined;
  /** Whether the hash or the annotation `state` of the workload showed the last verdict. */
  readonly isPublished: boolean;
}

/**
 * All that is remembered of one workload while this process leads, and nowhere else. A memory is made when the workload
 * is first enqueued and dropped when the workload is gone, so it must stay small. Times are in monotonic milliseconds.
 */
export interface WorkloadMemory {
  /** What the last run found out. */
  readonly findings: Findings;
  /** The first and the last change of its configuration since the last plan by which all changes had settled. */
  readonly changes: UnsettledChanges | undefined;
  readonly hold: RememberedHold | undefined;
  /** The last hold of the due write that was reported. A hold that only waits does not replace the hold of a person. */
  readonly heldBy: HoldReason | undefined;
  /** The state in the metrics; undefined before the first run. */
  readonly state: WorkloadState | undefined;
  /** Since when the workload has been unhealthy, in whatever states; undefined if it is healthy. */
  readonly unhealthySince: number | undefined;
  /** When the first change was seen that is not written yet; undefined if a list or a timer requested the run. */
  readonly changeSeenAt: number | undefined;
  /** When the first change was seen that is in progress, held by nothing, or only by a hold that ends by itself. */
  readonly changeInProgressSince: number | undefined;
  /** Since when the workload may show an earlier verdict: when the first change was seen that was not judged and published. */
  readonly unpublishedSince: number | undefined;
  readonly requestedRuns: number;
  /** The value of `requestedRuns` at the start of the last run that has ended. */
  readonly finishedRuns: number;
  /** The number of consecutive live plans that needed no write where the plan from the caches did. Runs that were held are not counted. */
  readonly disagreements: number;
  /** The failure that was logged since the last success, so that each is logged once. */
  readonly logged: "refused" | "bug" | undefined;
  /** Pods that read no copy, as the collector of copies last found them. */
  readonly unpinned: UnpinnedPods | undefined;
  readonly blockers: ReportedBlockers | undefined;
}

/** What was recorded on a workload about the configuration of its Pods. */
interface RecordedConfiguration {
  readonly uid: string;
  readonly hash: string | undefined;
  readonly config: string | undefined;
  /** Whether this process wrote it. */
  readonly isOwn: boolean;
}

/** A workload from a response to a write, or from a read after a conflict, while the cache held `cached`. */
export interface NewerThanCache {
  readonly cached: Workload;
  readonly newest: Workload;
  readonly expiresAt: number;
}

/** A workload with Pods that read no copy although its template names copies. */
export interface UnpinnedPods {
  readonly uid: string;
  readonly pinned: string;
}

/** What is remembered of mixed Pods. Times are in monotonic milliseconds. */
interface RememberedMixedPods {
  /** The times at which the live configuration differed from that of a hash. */
  readonly spans: KnownSpans | undefined;
  /** The mixed Pods as they were last read; undefined if there were none, or if Kubernetes is replacing them. */
  readonly pods:
    | (MixedPods & {
        readonly uid: string;
        readonly hash: string | undefined;
        readonly id: string;
        readonly at: number;
      })
    | undefined;
  /** The cause for which the Pods were last read, and when they are read again for it. */
  readonly readFor: string | undefined;
  readonly nextAt: number;
  /** The cause for which Wave has rolled the workload. */
  readonly rolledFor: string | undefined;
  /** The unpinned Pods that are replaced, or that stay unpinned after a rollout. */
  readonly settled: UnpinnedPods | undefined;
}

/** What is noted of the state of a workload in its annotations. Times are in monotonic milliseconds. */
interface StateNote {
  readonly uid: string;
  /** The `verdictId` of its verdict; undefined if it is current. */
  readonly state: string | undefined;
  readonly since: number;
  /** When each note may be written again, by its annotation, and by its text for a difference. */
  readonly notBefore: Readonly<Record<string, number>>;
}

/** The reported blockers of a workload, such as a missing object. They last as long as its plan has them. */
export interface ReportedBlockers {
  /**
   * Digests of the Events, by uid, reason and message: a workload that was recreated under the same name has no reported
   * blockers.
   */
  readonly eventIds: readonly string[];
  /** The beginning of the text that names the missing objects. */
  readonly waitingFor: string | undefined;
  /** When the Events are written again, before they expire. */
  readonly repeatAt: number;
}

/** Returns the memory of an unknown workload. */
export function newMemory(): WorkloadMemory {
  return {
    findings: newFindings(),
    state: undefined,
    unhealthySince: undefined,
    changeSeenAt: undefined,
    changeInProgressSince: undefined,
    unpublishedSince: undefined,
    requestedRuns: 0,
    finishedRuns: 0,
    changes: undefined,
    hold: undefined,
    heldBy: undefined,
    disagreements: 0,
    logged: undefined,
    blockers: undefined,
    unpinned: undefined,
  };
}

/** Returns the findings about an unknown workload. All fields are there: V8 keeps later ones in an array beside the object. */
export function newFindings(): Writable<Findings> {
  return {
    newerThanCache: undefined,
    lastWrite: undefined,
    progress: undefined,
    reportedRollout: undefined,
    uncertainWrite: undefined,
    caughtUpWith: undefined,
    confirmedMissing: undefined,
    pods: undefined,
    legacy: undefined,
    pins: undefined,
    unrestored: undefined,
    checkAtMonotonic: undefined,
    annotations: undefined,
    writtenPins: undefined,
    mixed: undefined,
    notedSpansOf: undefined,
    note: undefined,
    failedAlert: undefined,
    isPublished: false,
  };
}

/** The annotations that a workload had when it was last seen. */
interface SeenAnnotations {
  readonly uid: string;
  readonly values: Annotations;
  /** The names of those that `kubectl rollout undo` changed, until anyone changes annotations again. */
  readonly changedByUndo: readonly string[];
}

/** Most workloads share this list. */
const none: readonly string[] = [];

/** Returns the annotations to remember of a workload. A process that did not see the workload before the undo recognizes none. */
export function seenAnnotations(seen: SeenAnnotations | undefined, workload: Workload): SeenAnnotations {
  const { uid, plannedAnnotations: values } = workload;
  if (seen === undefined || seen.uid !== uid) return { uid, values, changedByUndo: none };
  if (seen.values === values) return seen;
  const changed = changedUserAnnotations(seen.values, values);
  if (changed.length === 0) return { uid, values, changedByUndo: seen.changedByUndo };
  return { uid, values, changedByUndo: isUndone(workload) ? changed : none };
}

/** The pins that a workload had when it was last seen. */
interface SeenPins {
  readonly uid: string;
  readonly pinned: string;
  /** What it rejected. `kubectl rollout undo` of a Deployment removes this annotation. */
  readonly rejected: string | undefined;
  /** What the pod template read when it was first seen with these pins: the copies were stored for it. With a rejection: what it read last. */
  readonly references: readonly Reference[];
}

/** Returns the pins to remember of a workload; undefined if it has none. `before`: what was remembered so far, if others wrote the workload. */
export function seenPins({ uid, pinned, rejected, references }: Workload, before?: SeenPins): SeenPins | undefined {
  if (pinned === undefined) return undefined;
  const isSame = before?.uid === uid && before.pinned === pinned && (before.rejected ?? rejected) === undefined;
  return isSame ? before : { uid, pinned, rejected, references };
}

/**
 * Reports whether others changed a pod template so that what the workload rejects may change: it has other pins, or it reads other keys while it
 * rejects content.
 */
export function hasOtherTemplate(seen: SeenPins | undefined, { uid, pinned, rejected, references }: Workload): boolean {
  if (seen?.uid !== uid) return false;
  return seen.pinned !== pinned || (rejected !== undefined && !isDeepStrictEqual(seen.references, references));
}
