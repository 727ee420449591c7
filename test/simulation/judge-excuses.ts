import { excuseOf } from "./judge-holds.ts";
import { holdingsOf } from "./judge-leadership.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { asksForNone, saidOf } from "./model-policy.ts";
import { isComplete, isIdle, wasComplete } from "./model-progress.ts";
import { isKnownRolled } from "./model-rolls.ts";
import { standsFor } from "./model-search.ts";
import { namespaceOf, type Stored } from "./model-stored.ts";
import {
  isValidator,
  type Named,
  namedBy,
  optedIn,
  readHash,
  recordedHash,
  workloadResources,
} from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

/** How many times one process writes one hash while other clients remove it. Then it stops. */
const mostWrites = 10;

/** The tolerance for times of the API, which have whole seconds. */
const slackMs = 2_000;

/** The wait after the second removal of a hash doubles after each further one, up to a limit. */
const [firstWaitMs, longestWaitMs] = [10_000, 3_600_000];

/** The holds by people that end without a decision about a validator: other workloads wait for it. */
const waitedFor: readonly (string | undefined)[] = ["approval", "window", "window of a while ago"];

/** A container that restarts as often since a change shows that the change is bad. */
const failingRestarts = 3;

type Judged = Pick<Recording, "history" | "settings"> & Partial<Pick<Recording, "epoch" | "lives" | "containers">>;

/**
 * Returns why a workload need not be rolled at a moment at which everything must be correct: people hold the workload or an
 * object that it reads, a change waits for workloads that have not completed it, or other clients removed this hash as often as
 * Wave writes it. Returns undefined if there is no such reason.
 */
export function excuseIn(
  { at, objects, find }: Stored,
  run: Judged,
  workload: StoredObject,
  hash: string | undefined,
): string | undefined {
  const { settings, epoch = 0, lives = [] } = run;
  const { pacing } = settings;
  const history = run.history.filter((entry) => entry.at <= at);
  if (pacing === undefined)
    return hash !== undefined && isRemovedAgain(hash, workload, history, at) ? "reverted" : undefined;
  const running = lives.filter(({ from, to = at }) => from <= at && to >= at);
  const wallOffMs = Math.max(0, ...running.map((life) => life.wallOffMs));
  const said = saidOf(workload, namespaceOf(workload, objects), pacing);
  const held = excuseOf(said, { hash, at: epoch + at, wallOffMs });
  if (held !== undefined) return held;
  const named = namedBy(workload, settings);
  const onHold = named.filter(({ key }) => {
    const object = find(key);
    return object !== undefined && asksForNone(object);
  });
  // Its owner is told of the hold only if no other change makes the workload due.
  if (onHold.length > 0)
    return [...changesOf().keys()].every((key) => onHold.some((one) => one.key === key))
      ? "hold of an object"
      : "hold of one of several objects";
  if (hash !== undefined && removalsOf(hash, workload, history) >= mostWrites) return "reverted";
  return pacing.maxConcurrent > 0 && !said.alone && waitsForOthers() ? "batch" : undefined;

  /** Returns the changes that this workload still needs. Of an object that it reads only since its hash was set, the last one. */
  function changesOf(): ReadonlyMap<string, number> {
    const setAt = isKnownRolled(workload) ? hashSetAt(workload, history) : undefined;
    const namedThen = setAt && namedBy(setAt.after, settings);
    const isNew = (one: Named) => namedThen !== undefined && !readsAlike(one, namedThen, find(one.key));
    const [added, others] = [named.filter(isNew), named.filter((one) => !isNew(one))];
    const changes = new Map(changesSince(setAt?.at, others, history));
    for (const { key } of added) changes.set(key, lastChangeOf(key, history));
    // Without a hash, Pods may have read an optional key that was removed since. The API does not show which keys an object had.
    const unknown =
      setAt === undefined ? named.filter(({ key, partOf }) => !changes.has(key) && partOf(find(key)).read) : [];
    for (const { key } of unknown) changes.set(key, lastChangeOf(key, history));
    // If the inputs of the hash before are not known, a missing object may have existed, also before the start of a leader.
    for (const { key } of named) if (find(key) === undefined) changes.set(key, 0);
    return changes;
  }

  /** Reports whether another workload has begun to roll for a change that this workload still needs, and is not complete. */
  function waitsForOthers(): boolean {
    const { namespace, uid } = workload.metadata;
    const fellows = [...objects].flatMap(([key, other]) => {
      const [resource = "", where] = key.split("/");
      const isFellow = workloadResources.includes(resource) && where === namespace && other.metadata.uid !== uid;
      return isFellow && optedIn(other, settings, namespaceOf(other, objects)) ? [other] : [];
    });
    return [...changesOf()].some(([key, changedAt]) => {
      const readers = fellows.filter((other) => namedBy(other, settings).some((one) => one.key === key));
      return readers.some(
        (other) =>
          isHeldValidator(other, key) ||
          ((!isComplete(other) || restarts(other, changedAt, run)) && (isValidator(other) || delays(other, changedAt))),
      );
    });
  }

  /** Reports whether a validator has not checked the last change of an object yet, because people hold its rollout for now. */
  function isHeldValidator(other: StoredObject, key: string): boolean {
    if (pacing === undefined || !isValidator(other)) return false;
    const read = namedBy(other, settings);
    const { hash: due, missing } = standsFor(read, find);
    const ofObject = read.filter((one) => one.key === key);
    const isDue = changesSince(hashSetAt(other, history)?.at, ofObject, history).size > 0 && due !== readHash(other);
    const saidOfOther = saidOf(other, namespaceOf(other, objects), pacing);
    return isDue && !missing && waitedFor.includes(excuseOf(saidOfOther, { hash: due, at: epoch + at, wallOffMs }));
  }

  /** Reports whether a rollout that is not complete delays others: it includes the change, and has not failed or its failure halts them. */
  function delays(other: StoredObject, changedAt: number): boolean {
    const since = changedAt - slackMs - 2 * wallOffMs;
    const rollouts = hashesSetAt(other, history).filter((set) => set.at >= since);
    if (rollouts.length === 0) return false;
    // A complete workload waits for no workload that was broken before the change. Rollouts after its failure change nothing.
    if (wasComplete(workload) && !rollouts.some((set) => couldShow(other, set.at, history))) return false;
    const { rolloutTimeoutMs = 0, haltAfterFailures = 0 } = pacing ?? {};
    return haltAfterFailures > 0 || at - lastProgressOf(other, history) < rolloutTimeoutMs + slackMs + 2 * wallOffMs;
  }
}

/** Reports whether a container of a workload has restarted again and again since a time. */
export function restarts({ metadata: { uid } }: StoredObject, since: number, { containers, history }: Judged): boolean {
  const later = (containers?.starts ?? []).filter(({ at }) => at >= since);
  const counts = Map.groupBy(later, ({ pod, container }) => `${pod} ${container}`);
  return [...counts.values()].some(
    ([first, ...more]) =>
      first !== undefined && more.length + 1 >= failingRestarts && isOwnedBy(first.pod, uid, history),
  );
}

/** Reports whether a workload is the owner of an object, or of its owner. */
export function isOwnedBy(object: string, workload: string, history: readonly HistoryEntry[]): boolean {
  const entry = history.find(({ before, after }) => (after ?? before)?.metadata.uid === object);
  const owners = (entry?.after ?? entry?.before)?.metadata.ownerReferences ?? [];
  return owners.some(({ uid }) => uid === workload || isOwnedBy(uid, workload, history));
}

/** How old the status of a workload may be that Wave has seen. */
const seenMs = 300_000;

/** Reports whether a workload was complete, or had no Pods, at a moment that Wave can have seen before a rollout. */
function couldShow({ metadata: { uid } }: StoredObject, rolledAt: number, history: readonly HistoryEntry[]): boolean {
  const own = history.filter(({ after, at }) => after?.metadata.uid === uid && at <= rolledAt);
  const first = Math.max(
    0,
    own.findLastIndex(({ at }) => at < rolledAt - seenMs),
  );
  return own.slice(first).some(({ before }) => before !== undefined && (wasComplete(before) || isIdle(before)));
}

/** Returns when a workload changed last, or when a leader began to watch its rollout. */
function lastProgressOf({ metadata: { uid } }: StoredObject, history: readonly HistoryEntry[]): number {
  const changedAt = history.findLast(({ after }) => after?.metadata.uid === uid)?.at ?? 0;
  return Math.max(changedAt, holdingsOf(history).at(-1)?.from ?? 0);
}

/** Returns how many times other clients removed this hash from the workload since Wave last wrote another hash. */
function removalsOf(hash: string, { metadata: { uid } }: StoredObject, history: readonly HistoryEntry[]): number {
  let removals = 0;
  for (const { by, before, after } of history) {
    if (after?.metadata.uid !== uid || recordedHash(before) === recordedHash(after)) continue;
    if (by.actor === "wave" && recordedHash(after) !== hash) removals = 0;
    if (by.actor === "world" && recordedHash(before) === hash) removals++;
  }
  return removals;
}

/** Reports whether Wave need not write a hash yet, or any more, that other clients removed. Wave waits longer after each removal but the first. */
function isRemovedAgain(hash: string, workload: StoredObject, history: readonly HistoryEntry[], at: number): boolean {
  const removals = removalsOf(hash, workload, history);
  if (removals >= mostWrites) return true;
  if (removals < 2) return false;
  const { uid } = workload.metadata;
  const writtenAt = history.findLast(
    ({ by, before, after }) =>
      by.actor === "wave" && after?.metadata.uid === uid && recordedHash(before) !== recordedHash(after),
  )?.at;
  const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (removals - 2));
  return writtenAt !== undefined && at < writtenAt + waitMs + slackMs;
}

/** A time at which a hash of a workload was set, by whom, and the workload with it. */
interface HashSet extends Pick<HistoryEntry, "at" | "by"> {
  readonly after: StoredObject;
}

/** Returns when the recorded hash of a workload was last set for what is stored: an undo restores an earlier one. Undefined if it has none. */
function hashSetAt(workload: StoredObject, history: readonly HistoryEntry[]): HashSet | undefined {
  const same = hashesSetAt(workload, history).filter(({ after }) => readHash(after) === readHash(workload));
  return same.findLast(({ by }) => by.actor === "wave") ?? same[0];
}

/** Returns each time at which a hash of a workload was set, oldest first. */
function hashesSetAt({ metadata: { uid } }: StoredObject, history: readonly HistoryEntry[]): readonly HashSet[] {
  return history.flatMap(({ at, by, before, after }) => {
    if (after?.metadata.uid !== uid || readHash(after) === undefined) return [];
    return readHash(after) === readHash(before) ? [] : [{ at, by, after }];
  });
}

/** Reports whether a workload that named `before` saw the same of an object as one that names `now`. */
function readsAlike(now: Named, before: readonly Named[], object: StoredObject | undefined): boolean {
  const same = before.find(({ key }) => key === now.key);
  return same !== undefined && now.partOf(object).bytes.equals(same.partOf(object).bytes);
}

/** Returns when an object last changed, by its key; 0 if it did not change. */
function lastChangeOf(key: string, history: readonly HistoryEntry[]): number {
  const rv = new ConfigTimeline(history).versions(key).at(-1)?.rv;
  return history.findLast((entry) => entry.rv === rv)?.at ?? 0;
}

/** Returns the first change of each object since a time that Pods can see. Undefined: since the start. */
function changesSince(
  since: number | undefined,
  named: readonly Named[],
  history: readonly HistoryEntry[],
): ReadonlyMap<string, number> {
  const timeline = new ConfigTimeline(history);
  const times = new Map(history.map(({ rv, at }) => [rv, at]));
  return new Map(
    named.flatMap(({ key, partOf }) => {
      const versions = timeline.versions(key);
      const isChange = (index: number) => {
        const changedAt = times.get(versions[index]?.rv ?? -1);
        if (changedAt === undefined || changedAt < (since ?? 0) - slackMs) return false;
        return !partOf(versions[index]?.object).bytes.equals(partOf(versions[index - 1]?.object).bytes);
      };
      const first = versions.findIndex((_, index) => index > 0 && isChange(index));
      return first < 0 ? [] : [[key, times.get(versions[first]?.rv ?? -1) ?? 0] as const];
    }),
  );
}
