import { isOwnedBy } from "./judge-excuses.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { asksForNone, NamespaceTimeline, namespaceLateMs, saidOf } from "./model-policy.ts";
import { isComplete, isIdle, wasComplete } from "./model-progress.ts";
import { knownSince, type WaveWrite } from "./model-rolls.ts";
import { search, standsFor } from "./model-search.ts";
import { isStuck } from "./model-stuck.ts";
import { isValidator, namedBy, optedIn, readHash } from "./model-workload.ts";
import type { HistoryEntry, Pacing, Recording, StoredObject } from "./record.ts";

/** How far apart the moments are at which a Pod is looked for that finds no node. */
const looksMs = [0, 5_000, 15_000, 30_000, 60_000];

/** A change that a rollout includes: its object, and the start of its state that the new hash requires. */
export interface IncludedChange {
  readonly key: string;
  readonly shownSince: number;
}

/** Reports whether a container of a workload was seen between two times after it had exited with another code than 0. */
export function hasExit(
  { metadata: { uid } }: StoredObject,
  from: number,
  to: number,
  history: readonly HistoryEntry[],
): boolean {
  return history.some(({ resource, at, after }) => {
    if (resource !== "pods" || at < from || at > to || after === undefined) return false;
    return hasExited(after) && isOwnedBy(after.metadata.uid, uid, history);
  });
}

function hasExited({ status }: StoredObject): boolean {
  const { initContainerStatuses: init = [], containerStatuses: main = [] } = (status ?? {}) as Record<
    string,
    readonly Ended[]
  >;
  return [...init, ...main].some(({ state, lastState }) =>
    [state, lastState].some((each) => (each?.terminated?.exitCode ?? 0) > 0),
  );
}

interface Ended {
  readonly state?: { readonly terminated?: { readonly exitCode?: number } };
  readonly lastState?: Ended["state"];
}

/**
 * Finds Pods that serve and read content that no usable validator has passed. It judges only validators that nothing but Wave has touched since
 * before the change, that were complete for as long as a cache may be late, that nothing holds, and whose Pods found a node. Of these, each must
 * have been complete with the changed content before any other workload is rolled to it.
 */
export class ValidatorJudge {
  readonly #run: Recording;
  readonly #pacing: Pacing;
  readonly #timeline: ConfigTimeline;
  readonly #namespaces: NamespaceTimeline;
  readonly #validators: ReadonlyMap<string, readonly HistoryEntry[]>;

  constructor(run: Recording, pacing: Pacing) {
    this.#run = run;
    this.#pacing = pacing;
    this.#timeline = new ConfigTimeline(run.history);
    this.#namespaces = new NamespaceTimeline(run.history);
    const deployments = run.history.filter(({ resource }) => resource === "deployments");
    const byUid = Map.groupBy(deployments, ({ before, after }) => (after ?? before)?.metadata.uid ?? "");
    const marked = [...byUid].filter(([, entries]) => entries.some(({ after }) => after && isValidator(after)));
    this.#validators = new Map(marked);
  }

  /** Returns what is wrong with a rollout to a change, one line for each validator that has not passed it. */
  wrongIn(write: WaveWrite, change: IncludedChange): readonly string[] {
    if (isValidator(write.before)) return [];
    return [...this.#validators.values()].flatMap((entries) => {
      const binding = this.#binding(entries, write, change);
      if (binding === undefined) return [];
      const states = entries.filter(({ at }) => at <= write.at);
      if (states.some(({ after }) => after !== undefined && this.#hasPassed(after, write, change))) return [];
      return [`it comes before validator ${binding.metadata.name} has passed a change`];
    });
  }

  /** Returns the validator as it was before the last change of what it reads if it had to pass first; undefined if it had not. */
  #binding(entries: readonly HistoryEntry[], write: WaveWrite, change: IncludedChange) {
    const { before: reader, sentAt, rv } = write;
    const { key } = change;
    const shownSince = this.#readSince(entries, write, change);
    const from = Math.min(shownSince - 2 * write.wallOffMs, knownSince(write, this.#run)) - 2_000;
    const first = entries.findLast(({ at }) => at <= from)?.after;
    if (first === undefined || first.metadata.namespace !== reader.metadata.namespace) return undefined;
    const later = entries.filter(({ at }) => at > from && at <= sentAt);
    const isTouched = later.some(({ by, after }) => by.actor === "world" || after === undefined);
    const states = [first, ...later.flatMap(({ after }) => (after === undefined ? [] : [after]))];
    const namespaces = this.#namespaces.between(reader.metadata.namespace, from - namespaceLateMs, sentAt);
    const isFree = (state: StoredObject) =>
      isValidator(state) &&
      !isIdle(state) &&
      state.metadata.annotations?.["wave.pusher.com/resumed"] === undefined &&
      state.metadata.annotations?.["wave.pusher.com/rolled-incomplete"] === undefined &&
      namespaces.every((namespace) => {
        const { alone, holds, observes, approves, window } = saidOf(state, namespace, this.#pacing);
        return (
          optedIn(state, this.#run.settings, namespace) &&
          !(alone || holds || observes || approves) &&
          window === undefined
        );
      });
    if (isTouched || !states.every(isFree)) return undefined;
    // Until Wave rolls it, it was complete in each cache.
    const rolledAt = later.find(
      ({ by, before, after }) => by.actor === "wave" && readHash(before) !== readHash(after),
    )?.at;
    const isBroken = [
      first,
      ...later.filter(({ at }) => at < (rolledAt ?? sentAt)).flatMap(({ after }) => after ?? []),
    ];
    if (!isBroken.every(wasComplete)) return undefined;
    const named = namedBy(first, this.#run.settings);
    const own = named.find((one) => one.key === key);
    if (own === undefined) return undefined;
    const versions = this.#timeline.versions(key);
    const now = this.#timeline.at(key, rv);
    const earlier = this.#run.history.findLast(({ at }) => at < shownSince)?.rv ?? -1;
    const [was, is] = [versions[this.#timeline.at(key, earlier)], versions[now]];
    if (own.partOf(was?.object).bytes.equals(own.partOf(is?.object).bytes)) return undefined;
    for (const at of [earlier, rv]) {
      const find = (each: string) => this.#timeline.versions(each)[this.#timeline.at(each, at)]?.object;
      if (standsFor(named, find).missing) return undefined;
      if (named.some((each) => asksForNone(find(each.key) ?? first))) return undefined;
    }
    const isStuckThen = (ms: number) => isStuck(first.metadata.uid, sentAt - ms, this.#run.history);
    return looksMs.some(isStuckThen) ? undefined : first;
  }

  /** Returns the time of a change, or of an earlier one if the validator reads nothing that changed since then. */
  #readSince(entries: readonly HistoryEntry[], { sentAt, rv }: WaveWrite, { key, shownSince }: IncludedChange): number {
    const last = entries.findLast(({ at, after }) => at <= sentAt && after !== undefined)?.after;
    const own = last && namedBy(last, this.#run.settings).find((one) => one.key === key);
    if (own === undefined) return shownSince;
    const versions = this.#timeline.versions(key);
    const bytes = (state: number) => own.partOf(versions[state]?.object).bytes;
    const now = this.#timeline.at(key, rv);
    let first = now;
    while (first > 0 && bytes(first - 1).equals(bytes(now))) first--;
    const since = this.#run.history.find((entry) => entry.rv === versions[first]?.rv)?.at;
    return Math.min(shownSince, since ?? shownSince);
  }

  /** Reports whether a state of a validator is complete with the content of the change. */
  #hasPassed(state: StoredObject, { after, rv }: WaveWrite, { key }: IncludedChange): boolean {
    if (!isComplete(state)) return false;
    const { settings } = this.#run;
    const range = { from: () => 0, to: (each: string) => this.#timeline.at(each, rv) };
    const options = { wanted: "latest", incomplete: true } as const;
    const named = namedBy(state, settings);
    const own = named.find((one) => one.key === key);
    const [passed, needed] = [
      search(readHash(state) ?? "", named, this.#timeline, range, options),
      search(readHash(after) ?? "", namedBy(after, settings), this.#timeline, range, options),
    ];
    if (own === undefined || passed === "too many" || needed === "too many" || needed === undefined) return true;
    if (passed === undefined) return false;
    const bytes = (found: ReadonlyMap<string, number>) =>
      own.partOf(this.#timeline.versions(key)[found.get(key) ?? 0]?.object).bytes;
    return bytes(passed).equals(bytes(needed));
  }
}
