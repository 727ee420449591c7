// The owner-reference controller: keeps owner references and finalizers. Its record is in memory; the queue has three kinds of keys.
import type { Caches } from "../../cache/caches.ts";
import type { StoreChange } from "../../cache/store/store.ts";
import { matchedReferences } from "../../domain/config/matched-references.ts";
import { namespaceOf, type Workload, workloadKey } from "../../domain/model/workload.ts";
import { ownershipActionOf, planOwners } from "../../domain/owner-references/owner-references.ts";
import { keyOfOwner, type Owners, type OwnersPlan, ownerText } from "../../domain/owner-references/owners.ts";
import { type ClusterPolicy, policyFor } from "../../domain/policy/cluster-policy.ts";
import { configKey, isStored, type StoredName } from "../../domain/references/references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { runAll } from "../../lib/run-all.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { done, type Result } from "../../runtime/result.ts";
import { resync } from "../../runtime/resync.ts";
import { Workers } from "../../runtime/workers.ts";
import { listOwnedObjects } from "./owned-objects.ts";
import { parseOwnerReferenceKey, sweepKey } from "./queue-key.ts";
import { FinalizerSweeps } from "./record.ts";
import { DeletionBlockedReporter, type DeletionBlockedReporterOptions } from "./report.ts";
import { writeFinalizer, writeOwners } from "./write-requests.ts";
import { OwnerReferenceWriter, type OwnerReferenceWriterOptions, ownerReferenceBackoff } from "./writer.ts";

/** What {@link OwnerReferenceWorkers} need. */
export interface OwnerReferenceWorkersOptions extends OwnerReferenceWriterOptions, DeletionBlockedReporterOptions {
  readonly leadership: Leadership;
  readonly client: Pick<ApiClient, "request">;
  readonly caches: Pick<
    Caches,
    "lookup" | "workload" | "workloads" | "workloadsIn" | "workloadsReading" | "kinds" | "owners"
  >;
  readonly policy: ClusterPolicy;
  readonly syncPeriodMs: number;
  /** Numbers in [0, 1), for the delays of retries. */
  readonly random: () => number;
}

/** The workers spend most of their time waiting for permits. */
const workers = 4;
const workersOfNamespace = 3;

/**
 * Brings owner references and finalizers to their plan, for one leadership. A workload first gets its finalizer, then its
 * objects get it as an owner. When it stops owning, the references are removed first; then a sweep of the namespace finds
 * the rest; then the finalizer is removed. Each step follows from the stored state, so the next leader continues.
 */
export class OwnerReferenceWorkers {
  readonly #options: OwnerReferenceWorkersOptions;
  readonly #workers: Workers;
  readonly #writer: OwnerReferenceWriter;
  readonly #sweeps = new FinalizerSweeps();
  readonly #blocked: DeletionBlockedReporter;

  constructor(options: OwnerReferenceWorkersOptions) {
    const { clock, random } = options;
    this.#options = options;
    this.#blocked = new DeletionBlockedReporter(options);
    this.#workers = new Workers({
      clock,
      random,
      workers,
      flowOf: namespaceOf,
      workersPerFlow: workersOfNamespace,
      backoff: ownerReferenceBackoff,
      reconcile: (key, failures) => this.#run(key, failures),
    });
    this.#writer = new OwnerReferenceWriter(options, (key) => this.#workers.add(key, { urgency: "next" }));
  }

  /** Enqueues a workload that has changed, and the objects that it referenced. */
  workloadChanged({ key, before, after }: StoreChange<Workload>): void {
    if (before !== undefined && after !== undefined && isSame(before, after)) return;
    this.#sweeps.forget(key);
    this.#workers.add(key);
    for (const object of this.#objectsOf(before)) this.#workers.add(object);
  }

  /** Enqueues an object whose owners may have changed. */
  objectChanged(key: string): void {
    for (const owner of this.#options.caches.owners?.of(key)?.workloads ?? []) this.#sweeps.forget(keyOfOwner(owner));
    this.#workers.add(key, { urgency: "low" });
  }

  /** Enqueues everything, or all of one namespace. */
  enqueueAll(namespace?: string): void {
    for (const key of this.#keys(namespace)) this.#workers.add(key, { urgency: "low" });
  }

  /** Works until the leadership ends. After `stop` nothing new starts; resolves when the running writes are done. */
  async run(): Promise<void> {
    const { leadership, clock, syncPeriodMs } = this.#options;
    const over = AbortSignal.any([leadership.stop, leadership.abort]);
    const enqueue = (key: string) => this.#workers.add(key, { urgency: "low" });
    await runAll(over, (signal) => {
      const close = () => {
        this.#workers.close();
        this.#writer.close();
      };
      signal.addEventListener("abort", close, { once: true });
      if (signal.aborted) close();
      this.enqueueAll();
      const keys = () => this.#keys();
      return [this.#workers.run(signal), resync({ periodMs: syncPeriodMs, keys, enqueue, clock, signal })];
    });
  }

  *#keys(namespace?: string): Iterable<string> {
    const { caches } = this.#options;
    const workloads = namespace === undefined ? caches.workloads() : caches.workloadsIn(namespace);
    for (const workload of workloads) yield workloadKey(workload);
    for (const key of caches.owners?.keys() ?? []) {
      if (namespace === undefined || namespaceOf(key) === namespace) yield key;
    }
  }

  /** Returns the keys of the objects of its own namespace that a workload references. */
  #objectsOf(workload: Workload | undefined): readonly string[] {
    if (workload === undefined) return [];
    const { references } = matchedReferences(workload, policyFor(workload, this.#options.policy));
    const own = references.filter((each) => each.namespace === workload.namespace && isStored(each));
    return own.map(configKey);
  }

  async #run(key: string, failures: number): Promise<Result> {
    try {
      const result = await this.#reconcile(key);
      if (result.type === "done") this.#writer.succeeded(key);
      return result;
    } catch (error) {
      const { result, isRefused } = this.#writer.failed(key, error, failures);
      if (isRefused) void this.#blocked.report(key, this.#waitingFor(key), error);
      return result;
    }
  }

  /** Returns the workloads that keep their finalizer until a run of this key succeeds. */
  #waitingFor(key: string): readonly Workload[] {
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

  #reconcile(key: string): Promise<Result> {
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
    switch (ownershipActionOf(workload, policyFor(workload, policy))) {
      case "none":
        return done;
      case "own":
        this.#sweeps.forget(key);
        if (!workload.oldFinalizer) return this.#finalizer(key, workload, true);
        for (const object of this.#objectsOf(workload)) this.#workers.add(object, { urgency: "low" });
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
        this.#workers.add(sweepKey(namespace));
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
          this.#workers.add(key);
        } else {
          this.#sweeps.wait(key, objects);
          for (const object of objects) this.#workers.add(object);
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
    if (result.type === "done") for (const waiting of this.#sweeps.objectDone(key)) this.#workers.add(waiting);
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
      policyFor({ namespace }, policy),
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

/** Reports whether nothing changed that matters for ownership. The list of references is the same one if the spec is. */
function isSame(before: Workload, after: Workload): boolean {
  return (
    before.references === after.references &&
    before.oldFinalizer === after.oldFinalizer &&
    before.deleting === after.deleting &&
    before.uid === after.uid &&
    before.optIn.state === after.optIn.state &&
    before.policy.mode === after.policy.mode
  );
}
