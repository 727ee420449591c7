// The owner-reference controller: keeps owner references and finalizers. Its record is in memory; the queue has three kinds of keys.

import type { StoreChange } from "../../cache/store/store.ts";
import type { Config } from "../../domain/config/digest.ts";
import { namespaceOf, type Workload, workloadKey } from "../../domain/model/workload-shape.ts";
import { keyOfOwner } from "../../domain/owner-references/owner-references.ts";
import { isStored } from "../../domain/references/references.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import { runAll } from "../../lib/run-all.ts";
import { resync } from "../../runtime/timers.ts";
import { type Result, Workers } from "../../runtime/workers.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import type { LeaderController } from "../leader-context.ts";
import { OwnerReferenceReconciler } from "./reconcile.ts";
import type { OwnerReferenceOptions } from "./write-requests.ts";
import { OwnerReferenceWriter, ownerReferenceBackoff } from "./writer.ts";

/** The workers spend most of their time waiting for permits. */
const workers = 4;
const workersOfNamespace = 3;
/** The most workloads that one report names: an object may have any number of owners. */
const maxReported = 100;

/** Keeps or removes owner references and finalizers. The queue has workloads, objects and sweeps. */
export class OwnerReferences implements LeaderController {
  readonly #options: OwnerReferenceOptions;
  readonly #workers: Workers;
  readonly #writer: OwnerReferenceWriter;
  readonly #reconciler: OwnerReferenceReconciler;

  constructor(options: OwnerReferenceOptions) {
    const { clock, random } = options;
    this.#options = options;
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
    const add: Workers["add"] = (key, how) => this.#workers.add(key, how);
    this.#reconciler = new OwnerReferenceReconciler(options, this.#writer, add);
  }

  /** Enqueues a workload that has changed, and the objects that it referenced. */
  onWorkloadChange({ key, before, after }: StoreChange<Workload>): void {
    if (before !== undefined && after !== undefined && isSame(before, after)) return;
    this.#reconciler.forgetSweep(key);
    this.#workers.add(key);
    for (const object of this.#reconciler.objectsOf(before)) this.#workers.add(object);
  }

  /** Enqueues a new object. */
  onConfigChange({ key, before, after }: StoreChange<Config>): void {
    if (before === undefined && after !== undefined && isStored(after)) this.onOwnersChange(key);
  }

  /** Enqueues an object whose owners may have changed. */
  onOwnersChange(key: string): void {
    const owners = this.#options.caches.owners?.of(key)?.workloads ?? [];
    for (const owner of owners) this.#reconciler.forgetSweep(keyOfOwner(owner));
    this.#workers.add(key, { urgency: "low" });
  }

  /** Enqueues everything in a namespace; undefined: in all. */
  onNamespaceChange(namespace?: string): void {
    for (const key of this.#keys(namespace)) this.#workers.add(key, { urgency: "low" });
  }

  async run(): Promise<void> {
    const { leadership, clock, syncPeriodMs } = this.#options;
    const enqueue = (key: string) => this.#workers.add(key, { urgency: "low" });
    await runAll(leadership.stop, (signal) => {
      this.onNamespaceChange();
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

  async #run(key: string, failures: number): Promise<Result> {
    try {
      const result = await this.#reconciler.reconcile(key);
      if (result.type === "done") this.#writer.succeeded(key);
      return result;
    } catch (error) {
      const { result, isRefused } = this.#writer.failed(key, error, failures);
      if (isRefused) this.#reportBlockedDeletions(key, error);
      return result;
    }
  }

  /**
   * Reports on the workloads of a failed run that are being deleted why the deletion does not end. People look there for the cause, and not at
   * an object that Wave may not write. The existing Event counts the tries.
   */
  #reportBlockedDeletions(key: string, error: unknown): void {
    const event = deletionBlockedEvent(errorText(error));
    const blocked = this.#reconciler.waitingFor(key).filter(({ deleting }) => deleting);
    for (const { row, namespace, name, uid } of blocked.slice(0, maxReported)) {
      const regarding = { apiVersion: row.apiVersion, kind: row.kind, namespace, name, uid };
      this.#options.post({ regarding, ...event, repeats: "perhaps" });
    }
  }
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

/** Returns the Event on a workload whose deletion is blocked, because a write failed with `cause`. */
export function deletionBlockedEvent(cause: string): Omit<ObjectEvent, "regarding"> {
  return {
    type: "Warning",
    reason: "OldFinalizer",
    message: `Deletion blocked: cannot remove finalizer: ${cause}. Wave retries.`,
  };
}
