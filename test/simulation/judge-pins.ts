import { isDeepStrictEqual } from "node:util";
import { patched } from "./judge-reviews.ts";
import { ConfigTimeline } from "./model-configs.ts";
import { isCopy, onlyPods, pinsOf, templateOf } from "./model-pins.ts";
import { NamespaceTimeline, namespaceLateMs, saidOf } from "./model-policy.ts";
import { placesOf, type WorkloadSpec } from "./model-reading.ts";
import { search, standsFor } from "./model-search.ts";
import { annotations, hasSchedulingHold, namedBy, optedIn, recordedHash, workloadResources } from "./model-workload.ts";
import type { HistoryEntry, Recording, StoredObject } from "./record.ts";

/**
 * Judges pinned configuration:
 * - A hash that is written with pins stands for the content of the copies, and of what is not pinned at some moment. This is also true if
 *   the webhook decides about other references or pins with an unchanged hash.
 * - Without faults, a rollout by Wave pins all ConfigMaps of the namespace that the Pods read.
 * - No new Pod of such a template reads a pinned ConfigMap itself.
 * - A name of a copy stands for one content, whenever it is stored.
 * - Wave deletes no copy that a Pod, a current or update template, or a ReplicaSet with replicas uses.
 */
export function judgePins(run: Recording): readonly string[] {
  if (!run.settings.pinConfig) return [];
  const judge = new PinsJudge(run);
  return run.history.flatMap((entry) => judge.look(entry));
}

/** How long after the faults a process may still be late. */
const quietMs = 30_000;

class PinsJudge {
  readonly #run: Recording;
  readonly #timeline: ConfigTimeline;
  readonly #namespaces: NamespaceTimeline;
  /** The objects that exist, by resource, namespace and name. */
  readonly #present = new Map<string, StoredObject>();
  readonly #contents = new Map<string, unknown>();

  constructor(run: Recording) {
    this.#run = run;
    this.#timeline = new ConfigTimeline(run.history);
    this.#namespaces = new NamespaceTimeline(run.history);
  }

  look(entry: HistoryEntry): readonly string[] {
    const { resource, before, after, at } = entry;
    const object = after ?? before;
    if (object === undefined) return [];
    const { namespace, name } = object.metadata;
    const violations = this.#violations(entry, object);
    const key = `${resource}/${namespace}/${name}`;
    if (after === undefined) this.#present.delete(key);
    else this.#present.set(key, after);
    return violations.map((what) => `pins: ${resource} ${namespace}/${name} at ${at} ms: ${what}`);
  }

  #violations(entry: HistoryEntry, object: StoredObject): readonly string[] {
    const { resource, type, before, after, by, rv } = entry;
    if (resource === "pods" && type === "ADDED") return readsLive(object);
    if (resource === "configmaps" && isCopy(object)) {
      if (type === "ADDED") return this.#differs(object);
      return type === "DELETED" && by.actor === "wave" ? this.#uses(object) : [];
    }
    if (after === undefined || !workloadResources.includes(resource)) return [];
    const isWritten = recordedHash(after) !== recordedHash(before);
    const isOthers = isDeepStrictEqual(readsOf(after), before && readsOf(before));
    const violations = isWritten || (!isOthers && this.#isReviewed(entry)) ? this.#judgeHash(after, rv) : [];
    return isWritten && by.actor === "wave" ? [...violations, ...this.#unpinned(after, entry)] : violations;
  }

  /** Returns the ConfigMaps that a rollout by Wave leaves unpinned without a fault. */
  #unpinned(workload: StoredObject, { by, at, rv }: HistoryEntry): readonly string[] {
    const { metadata } = workload;
    if ((by.sentAt ?? at) < this.#run.calmAt + quietMs || metadata.annotations?.[annotations.pinConfig] !== "true")
      return [];
    const pins = pinsOf(templateOf(workload));
    const find = (key: string) => this.#timeline.versions(key)[this.#timeline.at(key, rv)]?.object;
    const read = namedBy(onlyPods(workload), this.#run.settings).filter(({ key, partOf }) => partOf(find(key)).read);
    return read.flatMap(({ key }) => {
      const [kind, namespace, name = ""] = key.split("/");
      const isPinned = kind === "Secret" || namespace !== metadata.namespace || pins.has(name);
      return isPinned ? [] : [`it does not pin ConfigMap ${name}`];
    });
  }

  /** Reports whether the webhook has decided about the pod template of a write of another client. It decides later if something is missing. */
  #isReviewed({ before, after, at, rv }: HistoryEntry): boolean {
    if (after === undefined || hasSchedulingHold(after)) return false;
    // The review of a workload that has not opted in only lifts a scheduling hold.
    const states = this.#namespaces.between(after.metadata.namespace, at - namespaceLateMs, at);
    const { settings } = this.#run;
    if (!states.every((namespace) => optedIn(after, settings, namespace))) return false;
    // In mode observe, a removed hash comes back, whatever the new pod template reads.
    const { pacing } = settings;
    if (pacing !== undefined && states.some((namespace) => saidOf(after, namespace, pacing).observes)) return false;
    const find = (key: string) => this.#timeline.versions(key)[this.#timeline.at(key, rv)]?.object;
    if (standsFor(namedBy(after, settings), find).missing) return false;
    const since = Number(before?.metadata.resourceVersion ?? rv);
    return this.#run.reviews.some(
      (review) =>
        review.kind === after.kind &&
        review.namespace === after.metadata.namespace &&
        review.name === after.metadata.name &&
        review.patch !== undefined &&
        review.answeredRv >= since &&
        review.answeredRv < rv &&
        isDeepStrictEqual(templateOf(patched(review)), templateOf(after)),
    );
  }

  #judgeHash(workload: StoredObject, rv: number): readonly string[] {
    const hash = recordedHash(workload);
    const pins = pinsOf(templateOf(workload));
    if (hash === undefined || pins.size === 0) return [];
    const { namespace } = workload.metadata;
    const copies = new Map<string, StoredObject>();
    for (const [source, copy] of pins) {
      const key = `ConfigMap/${namespace}/${copy}`;
      const stored = this.#timeline.versions(key)[this.#timeline.at(key, rv)]?.object;
      if (stored === undefined) return [`it names the copy ${copy}, which does not exist`];
      copies.set(`ConfigMap/${namespace}/${source}`, stored);
    }
    // A copy also has what annotations name of a ConfigMap that Pods read.
    const inPods = new Set(namedBy(onlyPods(workload), this.#run.settings).map(({ key }) => key));
    const versions = (key: string) => {
      const stored = this.#timeline.versions(key).filter((version) => version.rv <= rv);
      const copy = copies.get(key);
      return copy === undefined || !inPods.has(key) ? stored : [{ rv, object: copy }];
    };
    const range = { from: () => 0, to: (key: string) => versions(key).length - 1 };
    const found = search(hash, namedBy(workload, this.#run.settings), { versions }, range);
    return found === undefined ? ["its hash does not stand for what its copies have"] : [];
  }

  #differs({ metadata, data, binaryData }: StoredObject): readonly string[] {
    const key = `${metadata.namespace}/${metadata.name}`;
    const content = { data, binaryData };
    const known = this.#contents.get(key);
    this.#contents.set(key, content);
    return known === undefined || isDeepStrictEqual(known, content) ? [] : ["the copy had another content before"];
  }

  /** Returns what uses a copy that is deleted. */
  #uses({ metadata: { namespace, name } }: StoredObject): readonly string[] {
    const users: string[] = [];
    const inNamespace = [...this.#present].filter(([, { metadata }]) => metadata.namespace === namespace);
    const revisions = new Set(inNamespace.flatMap(([, { status }]) => revisionsOf(status)));
    for (const [key, object] of inNamespace) {
      if (isUser(key, object, name, revisions)) users.push(`Wave deletes it although ${key} uses it`);
    }
    return users;
  }
}

function isUser(key: string, object: StoredObject, copy: string, revisions: ReadonlySet<unknown>): boolean {
  const [resource = ""] = key.split("/");
  if (resource === "pods") return !isFinished(object) && namesOf(object).has(copy);
  if (resource === "controllerrevisions") {
    const { spec } = (object.data ?? {}) as { readonly spec?: WorkloadSpec };
    return revisions.has(object.metadata.name) && [...pinsOf(spec?.template).values()].includes(copy);
  }
  const { replicas = 1 } = (object.spec ?? {}) as { readonly replicas?: number };
  if (resource === "replicasets" && replicas === 0) return false;
  if (resource !== "replicasets" && !workloadResources.includes(resource)) return false;
  return [...pinsOf(templateOf(object)).values()].includes(copy);
}

function revisionsOf(status: unknown): readonly unknown[] {
  const { currentRevision, updateRevision } = (status ?? {}) as Readonly<Record<string, unknown>>;
  return [currentRevision, updateRevision].filter((name) => name !== undefined);
}

function isFinished({ status }: StoredObject): boolean {
  const { phase } = (status ?? {}) as { readonly phase?: string };
  return phase === "Succeeded" || phase === "Failed";
}

/** Returns what the Pods of a workload read: its pins, and its references. */
function readsOf(workload: StoredObject): unknown {
  return [[...pinsOf(templateOf(workload))], placesOf(onlyPods(workload))];
}

/** Returns the pinned ConfigMaps that a new Pod reads itself. */
function readsLive(pod: StoredObject): readonly string[] {
  const names = namesOf(pod);
  const live = [...pinsOf({ metadata: pod.metadata }).keys()].filter((source) => names.has(source));
  return live.map((source) => `it reads ConfigMap ${source} itself, and not the copy`);
}

/** Returns the names of the ConfigMaps that a Pod references. */
function namesOf(pod: StoredObject): ReadonlySet<string> {
  const metadata = { ...pod.metadata, annotations: {} };
  const places = placesOf({ ...pod, metadata, spec: { template: { spec: pod.spec } } });
  return new Set(places.filter(({ kind }) => kind === "ConfigMap").map(({ name }) => name));
}
