import type { Caches } from "../../cache/caches.ts";
import { configResources } from "../../cache/live/live-configs.ts";
import type { StoreChange } from "../../cache/store/store.ts";
import { matchedReferences } from "../../domain/config/matched-references.ts";
import { namespaceOf, type Workload, workloadKey } from "../../domain/model/workload.ts";
import { bearingOf, planOwners } from "../../domain/owner-references/owner-references.ts";
import { keyOfOwner, type Owners, type OwnersPlan, ownerText } from "../../domain/owner-references/owners.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { configKey, isStored, parseStoredKey } from "../../domain/references/references.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { resync } from "../../runtime/resync.ts";
import { WorkQueue } from "../../runtime/work-queue.ts";
import { listCarriers } from "./carriers.ts";
import { DeletionBlockedReporter, type WhoWaitsOptions } from "./deletion-blocked-reporter.ts";
import { Looks } from "./sweeps.ts";
import { PacedWrites, type PacedWritesOptions } from "./write-queue.ts";
import { writeFinalizer, writeOwners } from "./writes.ts";

/** What an {@link OwnershipTerm} works with. */
export interface OwnershipTermOptions extends PacedWritesOptions, WhoWaitsOptions {
  readonly leadership: Leadership;
  readonly client: Pick<ApiClient, "request">;
  readonly caches: Pick<
    Caches,
    "lookup" | "workload" | "workloads" | "workloadsIn" | "workloadsReading" | "kinds" | "owners"
  >;
  readonly policy: Policy;
  readonly syncPeriodMs: number;
}

/** Most of the time is spent on waiting for turns. */
const workers = 4;
const workersOfNamespace = 3;

/** The key in the queue that stands for a look at a namespace. */
const lookAt = (namespace: string) => `Namespace/${namespace}/`;
const isLook = (key: string) => key.endsWith("/");
const isConfig = (key: string) => Object.keys(configResources).some((kind) => key.startsWith(`${kind}/`));

/**
 * Makes owner references and finalizers what they are to be, for one term. A workload gets its finalizer, then what it
 * references gets it as an owner; and when it ceases to own, the references go first, what is stored is looked at, and then
 * the finalizer goes. Each step follows from what is there, so that the next term goes on wherever this one ended.
 */
export class OwnershipTerm {
  readonly #options: OwnershipTermOptions;
  readonly #queue: WorkQueue;
  readonly #writes: PacedWrites;
  readonly #looks = new Looks();
  readonly #whoWaits: DeletionBlockedReporter;

  constructor(options: OwnershipTermOptions) {
    const { clock } = options;
    this.#options = options;
    this.#whoWaits = new DeletionBlockedReporter(options);
    this.#queue = new WorkQueue({ clock, flowOf: namespaceOf, mostOfFlow: workersOfNamespace });
    this.#writes = new PacedWrites(options, {
      onTurn: (key) => this.#queue.add(key, { urgency: "next" }),
      again: (key, delayMs) => this.#queue.add(key, { delayMs }),
    });
  }

  /** Asks for what concerns a workload that has changed. */
  workloadChanged({ key, before, after }: StoreChange<Workload>): void {
    if (before !== undefined && after !== undefined && isSame(before, after)) return;
    this.#looks.forget(key);
    this.#queue.add(key);
    for (const object of this.#objectsOf(before)) this.#queue.add(object);
  }

  /** Asks for a look at the owners of an object. */
  objectChanged(key: string): void {
    for (const owner of this.#options.caches.owners?.of(key)?.workloads ?? []) this.#looks.forget(keyOfOwner(owner));
    this.#queue.add(key, { urgency: "low" });
  }

  /** Asks for everything, or for all in one namespace. */
  askAll(namespace?: string): void {
    for (const key of this.#keys(namespace)) this.#queue.add(key, { urgency: "low" });
  }

  /** Works until the term ends. After `stop` nothing is begun any more; resolves when the writes in flight are done. */
  async run(): Promise<void> {
    const { leadership, clock, syncPeriodMs } = this.#options;
    const over = AbortSignal.any([leadership.stop, leadership.abort]);
    const close = () => {
      this.#queue.close();
      this.#writes.close();
    };
    over.addEventListener("abort", close, { once: true });
    if (over.aborted) close();
    this.askAll();
    const enqueue = (key: string) => this.#queue.add(key, { urgency: "low" });
    const resyncing = resync({ periodMs: syncPeriodMs, keys: () => this.#keys(), enqueue, clock, signal: over });
    await Promise.all([...Array.from({ length: workers }, () => this.#work()), resyncing]);
  }

  *#keys(namespace?: string): Iterable<string> {
    const { caches } = this.#options;
    const workloads = namespace === undefined ? caches.workloads() : caches.workloadsIn(namespace);
    for (const workload of workloads) yield workloadKey(workload);
    for (const key of caches.owners?.keys() ?? []) {
      if (namespace === undefined || namespaceOf(key) === namespace) yield key;
    }
  }

  /** The keys of the objects of its namespace that it references. */
  #objectsOf(workload: Workload | undefined): readonly string[] {
    if (workload === undefined) return [];
    const { references } = matchedReferences(workload, this.#options.policy);
    const own = references.filter((each) => each.namespace === workload.namespace && isStored(each));
    return own.map(configKey);
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.next(); key !== undefined; key = await this.#queue.next()) {
      try {
        if (await this.#run(key)) this.#writes.done(key);
      } catch (error) {
        if (this.#writes.failed(key, error)) void this.#whoWaits.tell(key, this.#waitingFor(key), error);
      }
      this.#queue.done(key);
    }
  }

  /** Those whose finalizer stays until a run of this key succeeds. */
  #waitingFor(key: string): readonly Workload[] {
    const config = isConfig(key) ? this.#looks.waitingFor(key) : [key];
    const keys = isLook(key) ? this.#looks.askedIn(namespaceOf(key)) : config;
    return Array.from(keys, (each) => this.#options.caches.workload(each)).filter((each) => each !== undefined);
  }

  /** False where it waits for its turn. */
  #run(key: string): Promise<boolean> {
    if (isLook(key)) return this.#look(namespaceOf(key));
    return isConfig(key) ? this.#object(key) : this.#workload(key);
  }

  async #workload(key: string): Promise<boolean> {
    const { caches, policy } = this.#options;
    const workload = caches.workload(key);
    if (workload === undefined) return true;
    switch (bearingOf(workload, policy)) {
      case "leaves":
        return true;
      case "owns":
        this.#looks.forget(key);
        if (!workload.oldFinalizer) return this.#finalizer(key, workload, true);
        for (const object of this.#objectsOf(workload)) this.#queue.add(object, { urgency: "low" });
        return true;
      case "goes":
        return !workload.oldFinalizer || this.#finalizer(key, workload, false);
      case "releases":
        return !workload.oldFinalizer || this.#release(key, workload);
    }
  }

  #release(key: string, workload: Workload): Promise<boolean> | true {
    const { namespace } = workload;
    switch (this.#looks.ask(namespace, key, ownerText(workload))) {
      case "waits":
        return true;
      case "asked":
        this.#queue.add(lookAt(namespace));
        return true;
      case "clear":
        return this.#finalizer(key, workload, false);
    }
  }

  /** What a look has found is of use for one finalizer: with the next there may be references again. */
  async #finalizer(key: string, workload: Workload, wanted: boolean): Promise<boolean> {
    const priority = wanted ? "low" : "high";
    const changes = () => [`${workload.uid} ${wanted}`];
    const send = () => writeFinalizer(workload, wanted, this.#options);
    const wrote = await this.#writes.write({ key, priority, changes, send });
    if (wrote) this.#looks.forget(key);
    return wrote;
  }

  /** Finds out which objects still have those as owners that are about to lose their finalizer. */
  async #look(namespace: string): Promise<boolean> {
    const { client, caches, leadership } = this.#options;
    const asked = this.#looks.take(namespace);
    if (asked.size === 0) return true;
    try {
      const carriers = await listCarriers(client, namespace, new Set(asked.values()), caches.kinds(), leadership.abort);
      for (const [key, text] of asked) {
        const objects = carriers.get(text);
        if (objects === undefined) {
          this.#looks.clear(key, text);
          this.#queue.add(key);
        } else {
          this.#looks.wait(key, objects);
          for (const object of objects) this.#queue.add(object);
        }
      }
    } catch (error) {
      for (const [key, text] of asked) this.#looks.ask(namespace, key, text);
      throw error;
    }
    return true;
  }

  async #object(key: string): Promise<boolean> {
    const { caches } = this.#options;
    const name = parseStoredKey(key);
    const awaited = this.#looks.isAwaited(key);
    const { kind, namespace } = name;
    const exists = caches.lookup(kind, namespace, name.name) !== undefined;
    const known = caches.owners?.of(key);
    let planned = known && this.#plan(key, namespace, known);
    if (!awaited && (!exists || (known !== undefined && planned === undefined))) return true;
    const plan = (owners: Owners) => {
      planned = this.#plan(key, namespace, owners);
      return planned;
    };
    const changes = () => changesOf(planned);
    const send = () => writeOwners(name, plan, this.#options);
    const wrote = await this.#writes.write({ key, priority: awaited ? "high" : "low", changes, send });
    if (wrote) for (const waiting of this.#looks.written(key)) this.#queue.add(waiting);
    return wrote;
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

/** What is written of an object, to be compared with what was written before: the Namespace alone only where it is all. */
function changesOf(plan: OwnersPlan | undefined): readonly string[] {
  if (plan === undefined) return [];
  const { added, dropped, anchored } = plan;
  if (added.length === 0 && dropped.length === 0) return [`Namespace ${anchored}`];
  return [...added.map(({ uid }) => uid), ...dropped];
}

/** Whether nothing differs that decides what it owns; its references are the same list where its spec is the same. */
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
