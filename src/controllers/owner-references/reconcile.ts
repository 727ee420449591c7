import { configResources } from "../../cache/live/live-configs.ts";
import { matchedReferences } from "../../domain/config/tracked-references.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import {
  type Owners,
  type OwnersPlan,
  ownershipActionOf,
  ownerText,
  planOwners,
} from "../../domain/owner-references/owner-references.ts";
import { rulesFor } from "../../domain/policy/rules.ts";
import { configKey, isStored, parseStoredKey, type StoredName } from "../../domain/references/references.ts";
import { done, type Result, type Workers } from "../../runtime/workers.ts";
import { FinalizerSweeps } from "./finalizer-sweeps.ts";
import { listOwnedObjects } from "./owned-objects.ts";
import { type OwnerReferenceOptions, writeFinalizer, writeOwners } from "./write-requests.ts";
import type { OwnerReferenceWriter } from "./writer.ts";

/**
 * Brings owner references and finalizers to their plan. A workload first gets its finalizer, then its objects get it as an
 * owner. When it stops owning, the references are removed first; then a sweep of the namespace finds the rest; then the
 * finalizer is removed. Each step follows from the stored state, so the next leader continues.
 */
export class OwnerReferenceReconciler {
  readonly #options: OwnerReferenceOptions;
  readonly #writer: OwnerReferenceWriter;
  readonly #add: Workers["add"];
  readonly #sweeps = new FinalizerSweeps();

  /** `add` adds a key to the queue. */
  constructor(options: OwnerReferenceOptions, writer: OwnerReferenceWriter, add: Workers["add"]) {
    this.#options = options;
    this.#writer = writer;
    this.#add = add;
  }

  /** Forgets the result of a sweep for a workload: there may be references to it again. */
  forgetSweep(key: string): void {
    this.#sweeps.forget(key);
  }

  /** Returns the keys of the objects of its own namespace that a workload references. */
  objectsOf(workload: Workload | undefined): readonly string[] {
    if (workload === undefined) return [];
    const { references } = matchedReferences(workload, rulesFor(workload, this.#options.policy));
    const own = references.filter((each) => each.namespace === workload.namespace && isStored(each));
    return own.map(configKey);
  }

  /** Returns the workloads that keep their finalizer until a run of this key succeeds. */
  waitingFor(key: string): readonly Workload[] {
    const keys = Array.from(this.#waitingKeys(key));
    return keys.map((each) => this.#options.caches.workload(each)).filter((each) => each !== undefined);
  }

  #waitingKeys(key: string): Iterable<string> {
    const parsed = parseOwnerReferenceKey(key);
    switch (parsed.type) {
      case "workload":
        return [key];
      case "object":
        return this.#sweeps.waitingFor(key);
      case "sweep":
        return this.#sweeps.requestedIn(parsed.namespace);
    }
  }

  /** Brings one key to its plan. Rejects with the errors of the requests. */
  reconcile(key: string): Promise<Result> {
    const parsed = parseOwnerReferenceKey(key);
    switch (parsed.type) {
      case "workload":
        return this.#workload(key);
      case "object":
        return this.#object(key, parsed.name);
      case "sweep":
        return this.#sweep(parsed.namespace);
    }
  }

  async #workload(key: string): Promise<Result> {
    const { caches, policy } = this.#options;
    const workload = caches.workload(key);
    if (workload === undefined) return done;
    switch (ownershipActionOf(workload, rulesFor(workload, policy))) {
      case "none":
        return done;
      case "own":
        this.#sweeps.forget(key);
        if (!workload.oldFinalizer) return this.#finalizer(key, workload, true);
        for (const object of this.objectsOf(workload)) this.#add(object, { urgency: "low" });
        return done;
      case "removeFinalizer":
        return workload.oldFinalizer ? this.#finalizer(key, workload, false) : done;
      case "release":
        return workload.oldFinalizer ? this.#release(key, workload) : done;
    }
  }

  async #release(key: string, workload: Workload): Promise<Result> {
    const { namespace } = workload;
    switch (this.#sweeps.request(namespace, key, ownerText(workload))) {
      case "waits":
        return done;
      case "requested":
        this.#add(sweepKey(namespace));
        return done;
      case "clear":
        return this.#finalizer(key, workload, false);
    }
  }

  /** The result of a sweep is for one finalizer: with the next one there may be references again. */
  async #finalizer(key: string, workload: Workload, wanted: boolean): Promise<Result> {
    const priority = wanted ? "low" : "high";
    const changes = () => [`${workload.uid} ${wanted}`];
    const send = () => writeFinalizer(workload, wanted, this.#options);
    const result = await this.#writer.write({ key, priority, changes, send });
    if (result.type === "done") this.#sweeps.forget(key);
    return result;
  }

  /** Finds the objects whose owners include workloads that are about to lose their finalizer. */
  async #sweep(namespace: string): Promise<Result> {
    const { client, caches, leadership } = this.#options;
    const swept = this.#sweeps.start(namespace);
    if (swept.size === 0) return done;
    try {
      const owners = new Set(swept.values());
      const owned = await listOwnedObjects(client, namespace, owners, caches.kinds(), leadership.abort);
      for (const [key, text] of swept) {
        const objects = owned.get(text);
        if (objects === undefined) {
          this.#sweeps.markClear(key, text);
          this.#add(key);
        } else {
          this.#sweeps.wait(key, objects);
          for (const object of objects) this.#add(object);
        }
      }
    } catch (error) {
      for (const [key, text] of swept) this.#sweeps.request(namespace, key, text);
      throw error;
    }
    return done;
  }

  async #object(key: string, name: StoredName): Promise<Result> {
    const { caches } = this.#options;
    const isAwaited = this.#sweeps.isAwaited(key);
    const { kind, namespace } = name;
    const exists = caches.lookup(kind, namespace, name.name) !== undefined;
    const known = caches.owners?.of(key);
    let planned = known && this.#plan(key, namespace, known);
    if (!isAwaited && (!exists || (known !== undefined && planned === undefined))) return done;
    const plan = (owners: Owners) => {
      planned = this.#plan(key, namespace, owners);
      return planned;
    };
    const changes = () => changesOf(planned);
    const send = () => writeOwners(name, plan, this.#options);
    const result = await this.#writer.write({ key, priority: isAwaited ? "high" : "low", changes, send });
    if (result.type === "done") for (const waiting of this.#sweeps.objectDone(key)) this.#add(waiting);
    return result;
  }

  #plan(key: string, namespace: string, owners: Owners) {
    const { caches, policy } = this.#options;
    const readers = Array.from(caches.workloadsReading(key), (reader) => caches.workload(reader));
    const own = readers.filter((reader) => reader?.namespace === namespace);
    return planOwners(
      owners,
      own.filter((reader) => reader !== undefined),
      caches.workload,
      policy,
    );
  }
}

/** Returns what a write changes, to compare with earlier writes. The Namespace is named only if it is the only change. */
function changesOf(plan: OwnersPlan | undefined): readonly string[] {
  if (plan === undefined) return [];
  const { added, dropped, namespaceOwner } = plan;
  if (added.length === 0 && dropped.length === 0) return [`Namespace ${namespaceOwner}`];
  return [...added.map(({ uid }) => uid), ...dropped];
}

/** What a key of the queue names. */
type OwnerReferenceKey =
  /** A workload, which may get or lose its finalizer. */
  | { readonly type: "workload" }
  /** A ConfigMap or Secret, which may get or lose owners. */
  | { readonly type: "object"; readonly name: StoredName }
  /** A sweep of a namespace: find all objects of workloads that are about to lose their finalizer. */
  | { readonly type: "sweep"; readonly namespace: string };

const sweepPrefix = "sweep/";

/** Returns the key of a sweep. Like all keys, it has the namespace in second place. */
export function sweepKey(namespace: string): string {
  return `${sweepPrefix}${namespace}/`;
}

/** Returns what a key names. Each key that is no sweep and no object is the key of a workload. */
export function parseOwnerReferenceKey(key: string): OwnerReferenceKey {
  if (key.startsWith(sweepPrefix)) return { type: "sweep", namespace: key.slice(sweepPrefix.length, -1) };
  const isObject = Object.keys(configResources).some((kind) => key.startsWith(`${kind}/`));
  return isObject ? { type: "object", name: parseStoredKey(key) } : { type: "workload" };
}
