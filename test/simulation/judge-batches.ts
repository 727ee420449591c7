import { type Holding, holdingsOf } from "./judge-leadership.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { NamespaceTimeline, saidOf } from "./model-policy.ts";
import { isComplete, isIdle } from "./model-progress.ts";
import { type WaveWrite, waveWriteOf } from "./model-rolls.ts";
import { search } from "./model-search.ts";
import { namedBy, optedIn, recordedHash, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Pacing, Recording, StoredObject } from "./record.ts";

const drift = 0.96;
/** A term is over that is not renewed for a little longer. */
const renewMs = 9_000;
/** Of times of the API, which have seconds. */
const slackMs = 1_200;

/** A roll that somebody began, and what became of it. */
interface Begun {
  readonly uid: string;
  readonly namespace: string | undefined;
  readonly at: number;
  readonly replica: string;
  /** The keys of the objects that it reads: it is past each change of these that came before. */
  readonly reads: readonly string[];
  /** Whether it replaced no Pod: it goes at any time, and shows something when somebody gives it Pods and they are complete. */
  readonly idle: boolean;
  /** The keys of those that changed for it, and since when each was as it then read it. */
  readonly changed: ReadonlyMap<string, number>;
  /** When nothing was left to do, first. */
  completeAt: number | undefined;
  /** Whether it went, or a person said that it does not count. */
  excused: boolean;
}

/** An object that shows what a new hash says. */
interface Change {
  readonly key: string;
  /** When it came to its last state that does: others may read more of it. */
  readonly since: number;
  /** When it came to its first state that does, without another in between. */
  readonly shownSince: number;
  /** Whether it is its absence that shows it. */
  readonly isGone: boolean;
}

/**
 * Of one change of an object, in one namespace, in one term: no more rollouts are under way at once than may be, and
 * nobody follows the first wave before it is complete and has been for a while. Whatever a cache shows was stored before,
 * and a process knows what it wrote itself, so both hold however late its caches are; of what the leader before it
 * wrote it may know too little, and of changes before its term: the API does not date all of them.
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

  constructor(run: Recording, pacing: Pacing) {
    this.#run = run;
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
      const write = waveWriteOf(entry, this.#run);
      const wrong = write === undefined ? [] : this.#judge(write);
      this.#see(entry);
      return wrong;
    });
  }

  #judge(write: WaveWrite): readonly string[] {
    const { replica, at, before, what, kind } = write;
    const { uid, namespace } = before.metadata;
    const reads = namedBy(before, this.#run.settings).map(({ key }) => key);
    const begun = { uid, namespace, at, replica, reads, completeAt: undefined };
    if (isIdle(before)) {
      this.#begun.push({ ...begun, idle: true, changed: new Map(), excused: false });
      return [];
    }
    const alone = this.#mayBeAlone(before, at);
    const changes = kind === "roll" ? this.#changesOf(write) : [];
    const wrong = changes.flatMap((change) => {
      const { key, shownSince } = change;
      const earlier = this.#begun.filter(
        (one) =>
          // By a clock that is behind, rolls of which the API tells came after a change of which it tells no time.
          one.at > shownSince - 1_000 - 2 * write.wallOffMs &&
          one.uid !== uid &&
          one.namespace === namespace &&
          one.reads.includes(key),
      );
      return alone ? [] : this.#wrongIn(write, change, earlier).map((each) => `wave: ${what}: ${each} of ${key}`);
    });
    const changed = new Map(changes.map((change) => [change.key, change.shownSince]));
    this.#begun.push({ ...begun, idle: false, changed, excused: alone });
    return wrong;
  }

  #wrongIn(
    { before, sentAt, wallOffMs, replica }: WaveWrite,
    { key, since, shownSince }: Change,
    earlier: readonly Begun[],
  ): readonly string[] {
    const { maxConcurrent, canarySize, soakMs, rolloutTimeoutMs, haltAfterFailures } = this.#pacing;
    const slack = slackMs + 2 * wallOffMs;
    const timedOut = ({ at }: Begun) => sentAt - at > drift * rolloutTimeoutMs - slack;
    if (this.#readersOf(key, before.metadata.namespace) <= canarySize) return [];
    // Who begins a term can tell of a roll in the second of the change neither.
    const second = (at: number) => Math.floor((this.#run.epoch + at) / 1_000);
    const termFrom = this.#termFrom(sentAt, replica);
    const isOwn = (one: Begun) => one.replica === replica && one.at > termFrom && second(one.at) > second(since);
    // One that was rolled later may have been for what was there before, where that showed it the same.
    const isForThis = (one: Begun) => (one.changed.get(key) ?? 0) >= shownSince;
    const own = earlier.filter((one) => !one.idle && isOwn(one) && isForThis(one));
    const isUnderWay = (one: Begun) =>
      !one.excused && (one.completeAt ?? Number.POSITIVE_INFINITY) > sentAt && !timedOut(one);
    const underWay = own.filter(isUnderWay).length;
    const wrong: string[] = [];
    if (underWay >= maxConcurrent) wrong.push(`it is rollout ${underWay + 1} at once for a change`);
    // One that somebody has changed since may show nothing of this change any more: then others are the first wave in its place.
    if (own.filter(({ excused }) => !excused).length < canarySize) return wrong;
    if (this.#wasResumed(before)) return wrong;
    const hasPassed = (one: Begun) => {
      if (one.excused) return true;
      if (one.completeAt !== undefined) return one.completeAt + drift * soakMs - slack <= sentAt;
      return haltAfterFailures === 0 && !one.idle && timedOut(one);
    };
    const passed = earlier.filter(hasPassed).length;
    if (passed < canarySize) wrong.push("it follows a first wave that has not passed, for a change");
    return wrong;
  }

  /** The objects whose change this roll is for, and since when each is as the new hash says. */
  #changesOf({ before, after, rv, sentAt, replica }: WaveWrite): readonly Change[] {
    const named = namedBy(before, this.#run.settings);
    const range = { from: () => 0, to: (key: string) => this.#timeline.at(key, rv) };
    const options = { wanted: "latest", incomplete: true } as const;
    const [was, is] = [before, after].map((object) =>
      search(recordedHash(object) ?? "", named, this.#timeline, range, options),
    );
    if (was === undefined || is === undefined || was === "too many" || is === "too many") return [];
    const termFrom = this.#termFrom(sentAt, replica);
    const changes = named.flatMap(({ key, partOf }) => {
      const versions = this.#timeline.versions(key);
      const [old, now] = [versions[was.get(key) ?? 0], versions[is.get(key) ?? 0]];
      if (partOf(old?.object).bytes.equals(partOf(now?.object).bytes)) return [];
      let first = is.get(key) ?? 0;
      const shown = partOf(now?.object).bytes;
      while (first > 1 && partOf(versions[first - 1]?.object).bytes.equals(shown)) first--;
      const [shownSince = Number.NEGATIVE_INFINITY, since = Number.NEGATIVE_INFINITY] = [versions[first], now].map(
        (version) => this.#times.get(version?.rv ?? -1),
      );
      return shownSince > termFrom ? [{ key, since, shownSince, isGone: now?.object === undefined }] : [];
    });
    // The API dates nothing that is gone: who does not know what the last hash was made from takes what changed for the cause.
    const isKnown = this.#begun.some(
      (one) => one.uid === before.metadata.uid && one.replica === replica && one.at > termFrom,
    );
    return isKnown ? changes : changes.filter(({ isGone }) => !isGone);
  }

  /** When the term began in which a process wrote: one that has not renewed the Lease in time begins another. */
  #termFrom(at: number, replica: string): number {
    let from = this.#holdings.findLast((holding) => holding.from <= at)?.from ?? 0;
    let renewed = from;
    for (const entry of this.#leases) {
      if (entry.by.replica !== replica || entry.at > at) continue;
      if (entry.at - renewed > renewMs) from = Math.max(from, entry.at);
      renewed = entry.at;
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
      // What somebody else makes of it, such as that it no longer concerns Wave, is not judged.
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

  #mayBeAlone(workload: StoredObject, at: number): boolean {
    const states = this.#namespaces.between(workload.metadata.namespace, at - 120_000, at);
    return states.some((namespace) => saidOf(workload, namespace, this.#pacing).alone);
  }

  /** Whether a person let it go on: by its own annotation, at whatever time. */
  #wasResumed({ metadata }: StoredObject): boolean {
    return metadata.annotations?.["wave.pusher.com/resumed"] !== undefined;
  }
}
