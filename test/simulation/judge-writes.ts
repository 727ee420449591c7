import { differsElsewhere } from "./judge-fields.ts";
import { isReturn } from "./judge-returns.ts";
import { patched } from "./judge-reviews.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { NamespaceTimeline, namespaceLateMs } from "./model-policy.ts";
import { isNote, isRepair } from "./model-rolls.ts";
import { type Moment, type Range, search } from "./model-search.ts";
import {
  hasSchedulingHold,
  namedBy,
  optedIn,
  readHash,
  recordedHash,
  schedulerOf,
  schedulerOnHold,
  workloadResources,
} from "./model-workload.ts";
import type { HistoryEntry, Recording, ReviewEntry, StoredObject } from "./record.ts";

/**
 * For each object that a workload reads (by key), the earliest state that matches the newest hash from a client that knew
 * the configuration. No later hash may match an earlier state.
 */
type Known = Map<string, number>;

/**
 * Judges each write of a workload by the controller of Wave:
 * - It changes only the hash, the scheduler and the annotations of Wave.
 * - It records a hash only if the workload opted in. It removes a scheduling hold, but never sets one.
 * - Its hash matches stored configuration. No object is older than in the recorded hash, if Wave itself or the webhook
 *   recorded that hash: nothing newer is reverted.
 * - Nothing required is missing in that configuration.
 *
 * Every write is therefore for something new: another hash needs a later state of some object, or a write of another client.
 * The hash of a return is older; the judge of returns checks it. A hash that a person restores, as with `rollout undo`, is no evidence of the stored configuration. It ends the bounds that
 * only the webhook has set: the leader may never have seen the hash of the webhook.
 */
export function judgeWrites(run: Recording): readonly string[] {
  const judge = new WriteJudge(run);
  return run.history.flatMap((entry) => judge.look(entry));
}

/** A scheduling hold ends by itself after this time. */
const longestHoldMs = 600_000;

class WriteJudge {
  readonly #run: Recording;
  readonly #timeline: ConfigTimeline;
  /** What the controller has recorded, and what only the webhook has. */
  readonly #written = new Map<string, Known>();
  readonly #reviewed = new Map<string, Known>();
  readonly #namespaces: NamespaceTimeline;

  constructor(run: Recording) {
    this.#run = run;
    this.#namespaces = new NamespaceTimeline(run.history);
    this.#timeline = new ConfigTimeline(run.history);
  }

  look(entry: HistoryEntry): readonly string[] {
    const { resource, before, after, by, rv } = entry;
    if (!workloadResources.includes(resource)) return [];
    if (by.actor !== "wave") {
      if (after !== undefined && by.actor === "world") this.#writtenByOthers(before, after, rv);
      return [];
    }
    const { namespace, name } = (after ?? before)?.metadata ?? {};
    const named = (what: string) =>
      `write: ${by.replica} on ${resource} ${namespace}/${name} at ${entry.at} ms: ${what}`;
    if (before === undefined || after === undefined) return [named("Wave neither creates nor deletes workloads")];
    return this.#judge(before, after, entry).map(named);
  }

  #writtenByOthers(before: StoredObject | undefined, after: StoredObject, rv: number): void {
    const hash = recordedHash(after);
    if (hash === undefined || hash === recordedHash(before)) return;
    const review = this.#reviewOf(after, rv);
    if (review === undefined) {
      this.#reviewed.delete(after.metadata.uid);
      return;
    }
    const range: Range = {
      from: (key) => this.#timeline.at(key, review.askedRv),
      to: (key) => this.#timeline.at(key, review.answeredRv),
    };
    const moment = search(hash, namedBy(after, this.#run.settings), this.#timeline, range);
    if (moment !== undefined && moment !== "too many") raise(knownIn(this.#reviewed, after), moment);
  }

  /** Returns the review that put the hash into the write of another client. */
  #reviewOf(after: StoredObject, rv: number): ReviewEntry | undefined {
    const hash = recordedHash(after);
    return this.#run.reviews.findLast((review) => {
      const { answeredRv, object, oldObject } = review;
      if (answeredRv >= rv || !isAbout(review, after) || recordedHash(patched(review)) !== hash) return false;
      return recordedHash(object) !== hash && recordedHash(oldObject) !== hash;
    });
  }

  #isReviewed(before: StoredObject, after: StoredObject, rv: number): boolean {
    const since = Number(before.metadata.resourceVersion);
    return this.#run.reviews.some(
      (review) =>
        isAbout(review, after) && review.answeredRv >= since && review.answeredRv < rv && review.patch !== undefined,
    );
  }

  #judge(before: StoredObject, after: StoredObject, entry: HistoryEntry): readonly string[] {
    const { rv, at } = entry;
    const { settings } = this.#run;
    // The annotations of its Namespace may be known late.
    const states = this.#namespaces.between(before.metadata.namespace, at - namespaceLateMs, at);
    const elsewhere = differsElsewhere(before, after);
    const violations = elsewhere === undefined ? [] : [`it changed ${elsewhere}, which is not Wave's`];
    const hashChanged = readHash(before) !== readHash(after);
    const opened = hasSchedulingHold(before) && !hasSchedulingHold(after);
    if (schedulerOf(before) !== schedulerOf(after) && schedulerOf(before) !== schedulerOnHold) {
      violations.push("it changed a scheduler that is not the scheduling hold's");
    }
    if (isNote(entry) || isRepair(entry)) return violations;
    // If the workload has just opted in again, its own webhook may set the scheduling hold again that the write removes.
    if (!hashChanged && !opened && !this.#isReviewed(before, after, rv)) {
      violations.push("it changed neither the hash nor the scheduling hold");
    }
    const asked = states.map((namespace) => optedIn(before, settings, namespace));
    if (!asked.includes(true)) {
      return hashChanged ? [...violations, "it recorded a hash although the workload has not opted in"] : violations;
    }
    // The scheduling hold of a workload that opted out is removed, whatever hash another client left on it.
    if (!hashChanged && (!settings.schedulingHold || asked.includes(false))) return violations;
    if (!hashChanged && opened && this.#isExpired(before, entry)) return violations;
    if (isReturn(entry, this.#run)) return violations;
    return [...violations, ...this.#judgeHash(before, after, rv)];
  }

  /** Reports whether a scheduling hold may be over its longest time, by the clock of the process that lifted it. */
  #isExpired({ metadata: { uid } }: StoredObject, { at, by }: HistoryEntry): boolean {
    const { history, lives } = this.#run;
    const off = (by.actor === "wave" && lives.find(({ replica }) => replica === by.replica)?.wallOffMs) || 0;
    const held = history.findLast(
      ({ before, after, at: then }) =>
        then < at && after?.metadata.uid === uid && schedulerOf(before) !== schedulerOf(after),
    );
    return held !== undefined && at - held.at + Math.abs(off) >= 0.96 * longestHoldMs - 2_500;
  }

  #judgeHash(before: StoredObject, after: StoredObject, rv: number): readonly string[] {
    const hash = readHash(after);
    if (hash === undefined) return readHash(before) === undefined ? [] : ["it removed the hash"];
    const named = namedBy(before, this.#run.settings);
    const written = knownIn(this.#written, before);
    const reviewed = this.#reviewed.get(before.metadata.uid);
    const timeline = this.#timeline;
    const now = (key: string) => timeline.at(key, rv);
    const range: Range = { from: (key) => Math.max(written.get(key) ?? 0, reviewed?.get(key) ?? 0), to: now };
    const moment = search(hash, named, timeline, range);
    if (moment === "too many") return [];
    if (moment !== undefined) {
      raise(written, moment);
      return [];
    }
    if (search(hash, named, timeline, range, { incomplete: true }) !== undefined) {
      return ["something required was missing whenever the configuration was what the hash stands for"];
    }
    if (search(hash, named, timeline, { from: () => 0, to: now }) !== undefined) {
      return ["it undoes what is newer: the recorded hash stood for configuration that was stored later"];
    }
    return ["the hash stands for no configuration that was ever stored"];
  }
}

function knownIn(all: Map<string, Known>, { metadata: { uid } }: StoredObject): Known {
  const known: Known = all.get(uid) ?? new Map();
  all.set(uid, known);
  return known;
}

function raise(known: Known, moment: Moment): void {
  for (const [key, number] of moment) known.set(key, Math.max(number, known.get(key) ?? 0));
}

function isAbout({ kind, namespace, name }: ReviewEntry, object: StoredObject): boolean {
  return kind === object.kind && namespace === object.metadata.namespace && name === object.metadata.name;
}
