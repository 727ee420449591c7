import { type Holding, holdingsOf } from "./judge-leadership.ts";
import { isReturn } from "./judge-returns.ts";
import { stuckNamespaces } from "./judge-stuck.ts";
import { ValidatorJudge } from "./judge-validators.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { hasOutgrownCopies } from "./model-pins.ts";
import { NamespaceTimeline, namespaceLateMs, saidOf } from "./model-policy.ts";
import { isComplete, isIdle, wasComplete } from "./model-progress.ts";
import { knownSince, type WaveWrite, waveWriteOf } from "./model-rolls.ts";
import { search } from "./model-search.ts";
import { writtenAt } from "./model-stored.ts";
import { isStuck } from "./model-stuck.ts";
import {
  isValidator,
  type Named,
  namedBy,
  optedIn,
  readHash,
  recordedHash,
  workloadResources,
} from "./model-workload.ts";
import type { HistoryEntry, Pacing, Recording, StoredObject } from "./record.ts";

/** By the fastest clock, a wait is over after this share of its true duration. */
const drift = 0.96;
/** A leadership ends if the Lease is not renewed for a little longer than this. */
const renewMs = 9_000;
/** How old the status of a workload may be that Wave has seen. */
const seenMs = 300_000;
/** The precision of times of the API, which are whole seconds. */
const slackMs = 1_200;

/** A write of Wave that started a rollout, or would start one if the workload had Pods, and its result. */
interface Begun {
  readonly uid: string;
  readonly namespace: string | undefined;
  readonly at: number;
  readonly replica: string;
  /** See {@link knownSince}. */
  readonly knownSince: number;
  readonly hash: string | undefined;
  /** The keys of the objects that the workload reads. The rollout includes every earlier change of these objects. */
  readonly reads: readonly string[];
  /** Whether the rollout replaced no Pod. It may then start at any time, and shows a result once the workload has complete Pods. */
  readonly idle: boolean;
  /** Whether the workload was not complete before. Then it shows nothing if it does not complete. */
  readonly incomplete: boolean;
  /** The keys of the objects that changed for it, each with the time since which the object is as it then read it. */
  readonly changed: ReadonlyMap<string, number>;
  /** The first time at which nothing was left to do. */
  completeAt: number | undefined;
  /** Whether the workload was deleted or edited since, or takes no part in batches. Its result then shows nothing. */
  excused: boolean;
}

/** A changed object that explains a new hash. */
interface Change {
  readonly key: string;
  /** The start of its last state that matches the hash: other workloads may read more of the object. */
  readonly since: number;
  /** The start of its first state that matches the hash without a different state in between. */
  readonly shownSince: number;
  /** Whether the API has the time of the change: not if the object is gone, or if an edit only removed something. */
  readonly isDated: boolean;
}

/**
 * Judges one change of an object, in one namespace, during one leadership. The number of rollouts under way never exceeds
 * the limit, and no workload follows the canary before the canary is complete and its soak time has passed. A cache only
 * shows what was stored before, and a process knows its own writes, so both rules hold however stale the caches are. A new
 * leader may know too little about the writes of the previous leader, and about earlier changes: the API does not date all of them.
 */
export function judgeBatches(run: Recording): readonly string[] {
  const { pacing } = run.settings;
  if (pacing === undefined || pacing.maxConcurrent === 0) return [];
  return new BatchJudge(run, pacing).judge();
}

class BatchJudge {
  readonly #run: Recording;
  readonly #pacing: Pacing;
  readonly #timeline: ConfigTimeline;
  readonly #namespaces: NamespaceTimeline;
  readonly #times: ReadonlyMap<number, number>;
  readonly #holdings: readonly Holding[];
  readonly #leases: readonly HistoryEntry[];
  readonly #workloads = new Map<string, StoredObject>();
  readonly #begun: Begun[] = [];
  readonly #validators: ValidatorJudge;

  constructor(run: Recording, pacing: Pacing) {
    this.#run = run;
    this.#validators = new ValidatorJudge(run, pacing);
    this.#pacing = pacing;
    this.#timeline = new ConfigTimeline(run.history);
    this.#namespaces = new NamespaceTimeline(run.history);
    this.#times = new Map(run.history.map(({ rv, at }) => [rv, at]));
    this.#holdings = holdingsOf(run.history);
    this.#leases = run.history.filter(({ resource }) => resource === "leases");
  }

  judge(): readonly string[] {
    return this.#run.history.flatMap((entry) => {
      if (!workloadResources.includes(entry.resource)) return [];
      // A return ends a rollout of the change. It waits for no batch, and needs no mark.
      const write = isReturn(entry, this.#run) ? undefined : waveWriteOf(entry, this.#run);
      const wrong = write === undefined ? [] : this.#judge(write);
      this.#see(entry);
      return wrong;
    });
  }

  #judge(write: WaveWrite): readonly string[] {
    const { replica, at, before, what, kind } = write;
    const { uid, namespace } = before.metadata;
    const reads = namedBy(before, this.#run.settings).map(({ key }) => key);
    // A validator is no canary, and its mark depends on why it is not complete.
    if (isValidator(before)) return [];
    const incomplete = isMarked(write.after);
    const hash = recordedHash(write.after);
    const facts = { uid, namespace, at, replica, hash, reads, incomplete };
    const begun = { ...facts, knownSince: knownSince(write, this.#run), completeAt: undefined };
    if (isIdle(before)) {
      this.#begun.push({ ...begun, idle: true, changed: new Map(), excused: false });
      return [];
    }
    const alone = this.#mayBeAlone(before, at - namespaceLateMs, at);
    const unmarked = alone || kind === "quiet" ? [] : this.#wrongMark(write);
    const changes = kind === "roll" ? this.#changesOf(write) : [];
    const waitsForNone = hasOutgrownCopies(write, this.#run);
    const wrongFor = (change: Change) => {
      const { key, shownSince } = change;
      const earlier = this.#begun
        .filter(
          (one) =>
            // By a slow clock, rollouts that the API dates come after a change that the API does not date.
            one.at > shownSince - 1_000 - 2 * write.wallOffMs &&
            one.uid !== uid &&
            one.namespace === namespace &&
            one.reads.includes(key),
        )
        .map((one) => ({ ...one, excused: one.excused || this.#mayHaveLeft(one, write.sentAt) }));
      return [...this.#wrongIn(write, change, earlier), ...this.#unvalidated(write, change)].map(
        (each) => `wave: ${what}: ${each} of ${key}`,
      );
    };
    const wrong = changes.flatMap((alike) => {
      if (alone || waitsForNone) return [];
      const [last = [], ...earlier] = alike.map(wrongFor);
      return earlier.some(({ length }) => length === 0) ? [] : last;
    });
    const changed = new Map(changes.flatMap(([last]) => (last ? [[last.key, last.shownSince]] : [])));
    this.#begun.push({ ...begun, idle: false, changed, excused: alone });
    return [...unmarked, ...wrong];
  }

  #unvalidated(write: WaveWrite, change: Change): readonly string[] {
    return this.#wasResumed(write.before) ? [] : this.#validators.wrongIn(write, change);
  }

  #wrongIn(
    { before, after, sentAt, wallOffMs, replica }: WaveWrite,
    { key, since, shownSince }: Change,
    earlier: readonly Begun[],
  ): readonly string[] {
    const { maxConcurrent, soakMs, rolloutTimeoutMs, haltAfterFailures } = this.#pacing;
    const slack = slackMs + 2 * wallOffMs;
    const timedOut = ({ at }: Begun) => sentAt - at > drift * rolloutTimeoutMs - slack;
    if (this.#readersOf(key, before.metadata.namespace) <= 1) return [];
    // A new leader also cannot order rollouts in the second of the change.
    const second = (at: number) => Math.floor((this.#run.epoch + at) / 1_000);
    const leadershipFrom = this.#leadershipFrom(sentAt, replica);
    const isOwn = (one: Begun) => one.replica === replica && one.at > leadershipFrom && second(one.at) > second(since);
    // A workload that was rolled later may have been rolled for the previous state, if that state had the same hash for it.
    const isForThis = (one: Begun) => (one.changed.get(key) ?? 0) >= shownSince;
    const own = earlier.filter((one) => !one.idle && isOwn(one) && isForThis(one));
    const isUnderWay = (one: Begun) =>
      !one.excused && (one.completeAt ?? Number.POSITIVE_INFINITY) > sentAt && !timedOut(one);
    const underWay = own.filter(isUnderWay).length;
    const wrong: string[] = [];
    if (underWay >= maxConcurrent) wrong.push(`it is rollout ${underWay + 1} at once for a change`);
    // A workload that was edited or deleted since shows no result of this change: other workloads then replace it as the canary.
    const showing = own.filter(({ excused, incomplete }) => !excused && !incomplete);
    if (showing.length === 0) return wrong;
    // A workload that was not complete comes with the rest. It is the canary if there is no other.
    if (isMarked(after) && !showing.some(isUnderWay)) return wrong;
    if (this.#wasResumed(before)) return wrong;
    const hasPassed = (one: Begun) => {
      if (one.excused) return true;
      // An old credential is the greater harm: others do not wait for ever for a Pod that finds no node, or for another scripted reason.
      const isStuckThen = isScripted(one.namespace) || isStuck(one.uid, sentAt, this.#run.history);
      if (key.startsWith("Secret/") && timedOut(one) && isStuckThen) return true;
      if (one.incomplete && one.completeAt === undefined) return false;
      if (one.completeAt !== undefined && one.completeAt + drift * soakMs - slack <= sentAt) return true;
      // Also if it is complete: a late cache may have shown until its deadline that it is not.
      return haltAfterFailures === 0 && !one.idle && timedOut(one);
    };
    const passed = earlier.filter(hasPassed).length;
    if (passed === 0) wrong.push("it follows a canary that has not passed, for a change");
    return wrong;
  }

  /** The mark of a workload that was not complete must be true at a moment that the writer can have seen. */
  #wrongMark({ before, after, at, what }: WaveWrite): readonly string[] {
    const { uid } = before.metadata;
    const states = [before];
    for (const entry of this.#run.history.filter((one) => one.after?.metadata.uid === uid).toReversed()) {
      if (entry.at > at || entry.after === undefined) continue;
      states.push(entry.after);
      if (entry.at < at - seenMs) break;
    }
    if (states.some(isIdle)) return [];
    const marked = isMarked(after);
    if (states.some((state) => wasComplete(state) !== marked)) return [];
    return [
      `wave: ${what}: it is ${marked ? "" : "not "}marked as not complete, and was ${marked ? "" : "not "}complete`,
    ];
  }

  /** Returns the objects whose change caused this rollout: for each, the changes of which a cache may have shown one, newest first. */
  #changesOf(write: WaveWrite): readonly (readonly Change[])[] {
    const { before, after, rv, sentAt, replica } = write;
    const named = namedBy(before, this.#run.settings);
    const range = { from: () => 0, to: (key: string) => this.#timeline.at(key, rv) };
    const options = { wanted: "latest", incomplete: true } as const;
    const [was, is] = [before, after].map((object) =>
      search(readHash(object) ?? "", named, this.#timeline, range, options),
    );
    if (was === undefined || is === undefined || was === "too many" || is === "too many") return [];
    const leadershipFrom = this.#leadershipFrom(sentAt, replica);
    const last = this.#begun.findLast(({ uid }) => uid === before.metadata.uid);
    const isOwn = last?.replica === replica && last.at > leadershipFrom;
    const isKnown = isOwn && last.hash === recordedHash(before);
    const shown = { before: isKnown ? last.knownSince : Number.NEGATIVE_INFINITY, now: knownSince(write, this.#run) };
    const changes = named
      .map((one) => this.#changesTo(one, was.get(one.key) ?? 0, is.get(one.key) ?? 0, shown))
      .filter((alike) => alike.length > 0 && alike.every(({ shownSince }) => shownSince > leadershipFrom));
    // Without the inputs of the last hash, such as after an undo, the causes are the changes that the API dates after it.
    return isKnown ? changes : changes.filter((alike) => alike.every(({ isDated }) => isDated));
  }

  /**
   * Returns the change of an object to a state, and the earlier changes to the same content, newest first: a late cache has shown only an
   * earlier one. It shows nothing older than the content of the last rollout. `shown` has since when all that it showed may have been stored.
   */
  #changesTo(
    { key, partOf }: Named,
    was: number,
    is: number,
    shown: { readonly before: number; readonly now: number },
  ): readonly Change[] {
    const versions = this.#timeline.versions(key);
    const bytes = versions.map(({ object }) => partOf(object).bytes.toString("latin1"));
    if (bytes[was] === bytes[is]) return [];
    const times = versions.map(({ rv }) => this.#times.get(rv) ?? Number.NEGATIVE_INFINITY);
    const isShown = (state: number, from: number) => (times[state + 1] ?? Number.POSITIVE_INFINITY) > from;
    const seen = bytes.findIndex((each, state) => each === bytes[was] && isShown(state, shown.before));
    const changes: Change[] = [];
    for (let state = is; state > Math.max(0, seen) && (state === is || isShown(state, shown.now)); state--) {
      if (bytes[state] !== bytes[is]) continue;
      const since = times[state] ?? 0;
      const isDated = Math.floor((this.#run.epoch + since) / 1_000) <= writtenAt(versions[state]?.object);
      while (state > 1 && bytes[state - 1] === bytes[is]) state--;
      changes.push({ key, since, shownSince: times[state] ?? 0, isDated });
    }
    return changes;
  }

  /**
   * Returns the start of the leadership in which a process wrote. A process that did not renew the Lease in time, in true time or by its own clock,
   * starts another leadership.
   */
  #leadershipFrom(at: number, replica: string): number {
    let from = this.#holdings.findLast((holding) => holding.from <= at)?.from ?? 0;
    let [renewed, byClock] = [from, Number.POSITIVE_INFINITY];
    for (const entry of this.#leases) {
      if (entry.by.replica !== replica || entry.at > at) continue;
      const renewTime = renewTimeOf(entry);
      if (entry.at - renewed > renewMs || renewTime - byClock > renewMs) from = Math.max(from, entry.at);
      [renewed, byClock] = [entry.at, renewTime];
    }
    return from;
  }

  #see({ at, before, after, by }: HistoryEntry): void {
    const { uid = "" } = (after ?? before)?.metadata ?? {};
    if (after === undefined) this.#workloads.delete(uid);
    else this.#workloads.set(uid, after);
    const gone = after === undefined || after.metadata.deletionTimestamp !== undefined;
    const edited = by.actor === "world";
    for (const one of this.#begun) {
      if (one.uid !== uid) continue;
      // Other outcomes, such as a workload that is no longer managed by Wave, are not judged.
      if (one.idle) one.completeAt ??= !gone && isComplete(after) && !isIdle(after) ? at : undefined;
      else if (gone || edited) one.excused = true;
      else if (one.completeAt === undefined && isComplete(after)) one.completeAt = at;
    }
  }

  #readersOf(key: string, namespace: string | undefined): number {
    return [...this.#workloads.values()].filter(
      (one) =>
        one.metadata.namespace === namespace &&
        optedIn(one, this.#run.settings) &&
        namedBy(one, this.#run.settings).some((named) => named.key === key),
    ).length;
  }

  /** Reports whether a replica may have taken a workload as outside of batches between two times, because of its Namespace. */
  #mayBeAlone(workload: StoredObject, from: number, to: number): boolean {
    const states = this.#namespaces.between(workload.metadata.namespace, from, to);
    return states.some(
      (namespace) =>
        saidOf(workload, namespace, this.#pacing).alone || !optedIn(workload, this.#run.settings, namespace),
    );
  }

  /** Reports whether a workload may have left the batches after Wave rolled it, because its Namespace changed. */
  #mayHaveLeft({ uid, at }: Begun, until: number): boolean {
    const workload = this.#workloads.get(uid);
    return workload === undefined || this.#mayBeAlone(workload, at - namespaceLateMs, until);
  }

  /** Reports whether a person resumed the workload by its own annotation, at any time. */
  #wasResumed({ metadata }: StoredObject): boolean {
    return metadata.annotations?.["wave.pusher.com/resumed"] !== undefined;
  }
}

/** Returns when a Lease was renewed by the clock of its holder, milliseconds since the epoch; NaN if it has no time. */
function renewTimeOf({ after }: HistoryEntry): number {
  const { renewTime = "" } = (after?.spec ?? {}) as { readonly renewTime?: string | null };
  return Date.parse(renewTime ?? "");
}

/** Reports whether the judge of stuck rollouts judges a namespace. */
function isScripted(namespace: string | undefined): boolean {
  return stuckNamespaces.some((name) => name === namespace);
}

/** Reports whether Wave recorded that a workload was not complete when Wave last rolled it. */
function isMarked({ metadata }: StoredObject): boolean {
  return metadata.annotations?.["wave.pusher.com/rolled-incomplete"] !== undefined;
}
