import { excuseIn } from "./judge-excuses.ts";
import { type Holding, holdingsOf } from "./judge-leadership.ts";
import { ConfigTimeline, listedRv } from "./model-configs.ts";
import { containersOf, hashOfPod, isOfTemplate, ownerOf, placesOfContainer } from "./model-containers.ts";
import { partOf } from "./model-hash.ts";
import type { Place } from "./model-reading.ts";
import { standsFor } from "./model-search.ts";
import { namespaceOf, type Stored, storedWhenRight } from "./model-stored.ts";
import { isOutOfSight, namedBy, optedIn, readHash, recordedBeside, recordedHash } from "./model-workload.ts";
import type { ContainerStart, HistoryEntry, Recording, StoredObject } from "./record.ts";
import { crashesWith } from "./stage/crashing-pods.ts";

/** How long after the start of a leadership its leader knows everything that is stored, in milliseconds. */
export const knowsMs = 15_000;
/** A difference that is shorter may be gone before Wave compares the configuration. */
const seenMs = 8_000;
/** A leader notes a difference that is this long for the next leader: 30 s, and some time for the write. */
const notedMs = 45_000;
/** The error of clocks that docs/rollouts.md allows for nodes, without the parts of a second. */
const clocksMs = 3_000;

/**
 * Returns the mixed Pods at the moments at which every Pod had to be right: a container of a Pod with the current hash has read other
 * configuration than the current one, and Wave could know this.
 */
export function mixedAtEnd(run: Recording): readonly string[] {
  const { containers, history } = run;
  if (containers === undefined) return [];
  const judge = new ContainersJudge(run, containers.starts);
  const violations: string[] = [];
  for (const stored of storedWhenRight({ history, rightAt: containers.rightAt }))
    violations.push(...judge.mixedIn(stored));
  return violations;
}

class ContainersJudge {
  readonly #run: Recording;
  /** The last start of each container, by Pod. */
  readonly #starts: readonly ContainerStart[];
  readonly #timeline: ConfigTimeline;
  readonly #times: ReadonlyMap<number, number>;
  readonly #holdings: readonly Holding[];

  constructor(run: Recording, starts: readonly ContainerStart[]) {
    this.#run = run;
    this.#starts = starts;
    this.#timeline = new ConfigTimeline(run.history);
    this.#times = new Map(run.history.map(({ rv, at }) => [rv, at]));
    this.#holdings = holdingsOf(run.history);
  }

  mixedIn(stored: Stored): readonly string[] {
    const violations: string[] = [];
    for (const [key, pod] of stored.objects) {
      if (!key.startsWith("pods/") || !this.#mustBeRight(pod, stored)) continue;
      const record = this.#recordOf(pod, stored);
      for (const read of this.#lastReads(pod, stored.at)) {
        const wrong = this.#wrongIn(read, stored, record);
        if (wrong !== undefined) violations.push(`containers: ${key}: ${wrong} (at ${stored.at} ms)`);
      }
    }
    return violations;
  }

  /** Reports whether the current configuration is that of the hash of a Pod, and Wave replaces this Pod if it is mixed. */
  #mustBeRight(pod: StoredObject, stored: Stored): boolean {
    const { settings, unlisted } = this.#run;
    const workload = ownerOf(pod, stored);
    if (workload === undefined || pod.metadata.deletionTimestamp !== undefined) return false;
    if (!replaced.includes(workload.kind) || isLeftToPeople(workload)) return false;
    if (
      isOutOfSight(workload, settings, unlisted) ||
      !optedIn(workload, settings, namespaceOf(workload, stored.objects))
    )
      return false;
    // New Pods would crash, and the rollout that replaces mixed Pods would not go on.
    if (crashesWith(pod, (kind, namespace, name) => stored.find(`${kind}/${namespace}/${name}`))) return false;
    const { hash, missing } = standsFor(namedBy(workload, settings), stored.find);
    if (missing || hash === undefined || hash !== readHash(workload)) return false;
    if (recordedHash(workload) !== hashOfPod(pod) || recordedBeside(workload)?.unproven) return false;
    // Without a hash in the pod template, Pods of an earlier template have none either. Kubernetes replaces them.
    if (hashOfPod(pod) === undefined && !isOfTemplate(pod, workload)) return false;
    return excuseIn(stored, this.#run, workload, hash) === undefined;
  }

  /** Returns the write by which Wave recorded beside the hash what the Pods of the workload read. */
  #recordOf(pod: StoredObject, stored: Stored): HistoryEntry | undefined {
    const workload = ownerOf(pod, stored);
    const beside = recordedBeside(workload);
    if (beside === undefined) return undefined;
    return this.#run.history.findLast(
      ({ at, after, before }) =>
        at <= stored.at &&
        after?.metadata.uid === workload?.metadata.uid &&
        recordedBeside(before)?.hash !== recordedBeside(after)?.hash,
    );
  }

  /** Returns what the containers of a Pod have read at their last start, by container and object. */
  #lastReads(pod: StoredObject, at: number): readonly Read[] {
    const names = Object.keys(Object.fromEntries(containersOf(pod).map(({ name }) => [name, true])));
    return names.flatMap((name) => {
      const start = this.#starts.findLast(
        (each) => each.pod === pod.metadata.uid && each.container === name && each.at <= at,
      );
      if (start === undefined) return [];
      const places = Map.groupBy(placesOfContainer(pod, name), (each) => `${each.kind}/${each.namespace}/${each.name}`);
      return [...places].map(([object, ofObject]) => ({ start, object, places: ofObject }));
    });
  }

  /**
   * Returns what is wrong with a read; undefined if nothing is, or Wave could not know it. What Wave recorded as read, it must know, but not
   * a removal of keys before its first list.
   */
  #wrongIn({ start, object, places }: Read, stored: Stored, record: HistoryEntry | undefined): string | undefined {
    const isRecorded = record !== undefined && start.at <= record.at;
    const listed = isRecorded ? listedRv(this.#run, record.by.replica, object) : 0;
    for (const through of ["variables", "files"] as const) {
      const own = places.filter((place) => place.through === through);
      if (own.length === 0) continue;
      const bytes = (state: StoredObject | undefined) => partOf(own, state).bytes;
      const now = bytes(stored.find(object));
      const versions = this.#timeline.versions(object);
      const readRv = through === "files" ? start.filesRv : start.rv;
      const read = this.#timeline.at(object, this.#timeline.removesKeys(object, readRv, listed) ? listed : readRv);
      const differs = (index: number) => !bytes(versions[index]?.object).equals(now);
      if (!differs(read)) continue;
      let [first, next] = [read, read + 1];
      while (first > 0 && differs(first - 1)) first--;
      while (next < versions.length && differs(next)) next++;
      const [from, to] = [first, next].map((index) => this.#times.get(versions[index]?.rv ?? -1) ?? 0);
      if (!isRecorded && !this.#isKnown(from ?? 0, to ?? 0)) continue;
      return `container ${start.container} started at ${start.at} ms and read ${object} of ${from} to ${to} ms as ${through}`;
    }
    return undefined;
  }

  /** Reports whether the last leader must know that the configuration differed in this time. */
  #isKnown(from: number, to: number): boolean {
    const { calmAt, lives } = this.#run;
    if (from < calmAt + knowsMs || to - from < seenMs) return false;
    const leaders = this.#holdings.filter((each, index) => {
      const end = this.#holdings[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      return end > from && each.replica !== undefined;
    });
    const isExact = ({ replica }: Holding) =>
      (lives.find((life) => life.replica === replica)?.wallOffMs ?? 0) <= clocksMs;
    const [first, second] = leaders;
    if (first === undefined || !leaders.every(isExact) || first.from + knowsMs > from) return false;
    // The next leader knows only what was noted.
    return second === undefined || Math.min(to, second.from) - from >= notedMs;
  }
}

/** What a container has read of an object at its start. */
interface Read {
  readonly start: ContainerStart;
  readonly object: string;
  readonly places: readonly Place[];
}

/** The kinds whose Pods show their revision, so that Wave replaces them. */
const replaced: readonly string[] = ["Deployment", "StatefulSet", "DaemonSet"];

/** Reports whether a person replaces the Pods of a workload. */
function isLeftToPeople({ spec }: StoredObject): boolean {
  const { paused, updateStrategy } = spec as {
    readonly paused?: boolean;
    readonly updateStrategy?: { readonly type?: string };
  };
  return paused === true || updateStrategy?.type === "OnDelete";
}
