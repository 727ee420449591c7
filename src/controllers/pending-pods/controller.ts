// The pending-Pods controller: reports what pending Pods wait for, and replaces Pods that are still pending after their scheduling hold was
// removed.
import type { StoreChange } from "../../cache/store/store.ts";
import { isSchedulingHeld, pendingPodsSelector } from "../../domain/model/scheduling-hold.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { isExpired } from "../../kube/api/api-failure.ts";
import { type KubeList, type KubeObject, metadataOnlyList, resourcePath, resources } from "../../kube/api/resources.ts";
import { deletePod } from "../../kube/writes/delete-pod.ts";
import { done, type Result, Workers } from "../../runtime/workers.ts";
import type { ControllerPermits } from "../../runtime/write-permits.ts";
import { errorText, logMessages } from "../../telemetry/logging/log-messages.ts";
import type { LeaderController } from "../leader-context.ts";
import { isObservedOwner, podsOfOnePage } from "./pod-owners.ts";
import { PendingPodReport, type PendingPodsOptions } from "./report.ts";

/** The Pods of one page: their pod templates may have 1 MiB and are not requested, but the metadata may have 300 kB each. */
const pageSize = 20;
const namespacesAtOnce = 4;
/** The controller of the Pods needs about this time to see that the hold was removed. A namespace is listed no more often. */
const delayMs = 250;
/** The controller of a new workload needs about this time to create its Pods. */
const reportDelayMs = 1_500;
const backoff = { baseMs: 250, retryMaxMs: 30_000 };
/** The key of the search in all namespaces, which finds the namespaces with such Pods. */
const everywhere = "";

/**
 * Deletes Pods that are still pending after their scheduling hold was removed: they have never been on a node.
 * Deployments, and StatefulSets and DaemonSets with a rolling update, replace such Pods by themselves. A StatefulSet with
 * ordered Pods does not: it waits for ever until the pending Pod is ready
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback). The same is true for the update
 * strategy OnDelete.
 *
 * Anyone who may create Pods can create any number of them. So each namespace is listed separately, one page at a time, and
 * the namespaces take turns. A failure is retried in its namespace and delays no other. Each run lists one page of Pods of one
 * namespace, and deletes the Pods that their controller can replace.
 */
export class PendingPods implements LeaderController {
  readonly #options: PendingPodsOptions;
  readonly #workers: Workers;
  readonly #permits: ControllerPermits;
  readonly #report: PendingPodReport;
  /** For namespaces with more pages: the next page, and whether an earlier page has Pods that must be checked again. */
  readonly #started = new Map<string, { readonly next: string; readonly left: boolean }>();
  /** The namespaces in which a hold was removed after their first page was read. */
  readonly #requested = new Set<string>();
  /** The namespaces that the search everywhere has found: one with thousands of Pods is enqueued once. */
  readonly #found = new Set<string>();

  constructor(options: PendingPodsOptions) {
    const { clock, random, permits } = options;
    this.#options = options;
    this.#permits = permits.of("housekeeping", {
      flowOf: (namespace) => namespace,
      onGranted: (namespace) => this.#workers.add(namespace, { urgency: "next" }),
    });
    this.#workers = new Workers({
      clock,
      random,
      workers: namespacesAtOnce,
      flowOf: (namespace) => namespace,
      backoff,
      reconcile: (namespace) => this.#run(namespace),
    });
    this.#report = new PendingPodReport(options);
  }

  /** If the workload had a scheduling hold, its namespace is searched. */
  onWorkloadChange({ before, after }: StoreChange<Workload>): void {
    const { row, namespace } = after ?? before ?? {};
    if (row === undefined || namespace === undefined || !row.keepsPendingPods) return;
    const wasObserved = before?.policy.mode === "observe" && after?.policy.mode !== "observe";
    if (wasObserved || mayBeReleased(before, after)) this.onNamespaceChange(namespace);
  }

  /** Searches the namespace: its workloads may have left observe mode. */
  onNamespaceChange(namespace: string): void {
    this.#requested.add(namespace);
    this.#workers.add(namespace, { delayMs });
  }

  /** Receives every namespace in which a workload waits with a scheduling hold: when its Pods exist, they get an Event. */
  onWaiting(namespace: string): void {
    this.#workers.add(namespace, { delayMs: reportDelayMs });
  }

  /** A hold of an uncached workload may have been added and removed while the watch was broken. */
  onListed(kind: string, namespace: string): void {
    if (this.#options.caches.kinds().some(({ id, keepsPendingPods }) => id === kind && keepsPendingPods))
      this.onNamespaceChange(namespace);
  }

  /** Searches everywhere once, for holds that were removed without a leader, and then in the enqueued namespaces. */
  async run(): Promise<void> {
    for (const namespace of this.#options.policy.namespaces ?? [everywhere]) this.#workers.add(namespace);
    await this.#workers.run(this.#options.leadership.stop);
  }

  async #run(namespace: string): Promise<Result> {
    try {
      return await this.#page(namespace);
    } catch (error) {
      // The API server does not keep the rest of the list any more.
      if (isExpired(error)) this.#started.delete(namespace);
      this.#permits.drop(namespace);
      if (!this.#isOver) this.#warn(namespace, error);
      return { type: "retry" };
    }
  }

  get #isOver(): boolean {
    return this.#options.leadership.stop.aborted;
  }

  /** Lists one page of Pods, deletes the replaceable ones, and returns when to continue. */
  async #page(namespace: string): Promise<Result> {
    const before = this.#started.get(namespace);
    if (before === undefined) this.#requested.delete(namespace);
    const { items, metadata } = await this.#list(namespace, before?.next);
    const pods = (items ?? []).filter((pod) => pod?.metadata && pod.metadata.deletionTimestamp === undefined);
    const left =
      namespace === everywhere ? this.#enqueueFound(pods) : await this.#release(namespace, pods, before === undefined);
    if (left === "permitPending") {
      // A new first page lacks the Pods that are deleted, and a next page would still have them.
      this.#started.delete(namespace);
      return { type: "deferred" };
    }
    const anyLeft = left || (before?.left ?? false);
    if (metadata.continue) {
      this.#started.set(namespace, { next: metadata.continue, left: anyLeft });
      return { type: "deferred", delayMs: 0 };
    }
    this.#started.delete(namespace);
    this.#permits.drop(namespace);
    if (namespace === everywhere) this.#found.clear();
    return anyLeft || this.#requested.has(namespace) ? { type: "retry" } : done;
  }

  /** Lists Pods that no scheduler handles. The API server filters them. */
  #list(namespace: string, next: string | undefined): Promise<KubeList<KubeObject>> {
    const path = resourcePath(resources.pods, namespace === everywhere ? {} : { namespace });
    const query = { fieldSelector: pendingPodsSelector, limit: pageSize, continue: next };
    const { abort: signal } = this.#options.leadership;
    return this.#options.client.request({ method: "GET", path, query, accept: metadataOnlyList, signal });
  }

  #enqueueFound(pods: readonly KubeObject[]): false {
    for (const { metadata } of pods) {
      const { namespace } = metadata;
      if (namespace === undefined || this.#found.has(namespace)) continue;
      this.#found.add(namespace);
      this.#workers.add(namespace);
    }
    return false;
  }

  /**
   * Deletes the replaceable Pods. Returns true if a Pod must be checked again, and "permitPending" if the namespace waits for a permit, so that
   * no worker does. Only Pods of the first page get Events: a tenant may have any number of pending Pods.
   */
  async #release(
    namespace: string,
    pods: readonly KubeObject[],
    isFirstPage: boolean,
  ): Promise<boolean | "permitPending"> {
    let left: boolean | "permitPending" = false;
    let failure: { readonly error: unknown } | undefined;
    const replaced: string[] = [];
    const { policy } = this.#options;
    const decide = podsOfOnePage(
      this.#options,
      (owner, of) => isObservedOwner(owner, of, policy),
      this.#options.leadership.abort,
    );
    for (const pod of pods) {
      if (this.#isOver || !this.#options.leadership.valid()) break;
      try {
        const decision = await decide(pod);
        // Check again whether this Pod is replaceable, or whether the new Pod is free.
        if (decision !== "held") left = true;
        else if (isFirstPage) this.#report.report(pod);
        if (decision !== "replaceable") continue;
        if (!this.#permits.take(namespace, "low")) {
          left = "permitPending";
          break;
        }
        const { abort: signal, valid: mayBeSent } = this.#options.leadership;
        await deletePod(this.#options.client, pod, { signal, mayBeSent });
        replaced.push(pod.metadata.name);
      } catch (error) {
        failure ??= { error };
        left = true;
      }
    }
    if (replaced.length > 0) {
      const fields = { namespace, pods: replaced.length, first: replaced[0] };
      this.#options.log.info("replaced pending Pods whose scheduling hold was removed", fields);
    }
    if (failure !== undefined && !this.#isOver) this.#warn(namespace, failure.error);
    return left;
  }

  #warn(namespace: string, error: unknown): void {
    this.#options.log.warn(logMessages.pendingPodsKept, {
      namespace: namespace === everywhere ? undefined : namespace,
      error: errorText(error),
    });
  }
}

/**
 * Reports whether a scheduling hold was removed, or may have been added and removed between two seen states: after a gap
 * in the watch, or in a list, only the last state is seen. Each is an edit of the spec, which raises the generation.
 */
function mayBeReleased(before: Workload | undefined, after: Workload | undefined): boolean {
  // A workload that has opted out leaves the caches when its hold is removed.
  if (after === undefined) return before !== undefined && isSchedulingHeld(before);
  if (isSchedulingHeld(after)) return false;
  const seen = before?.uid === after.uid ? before : undefined;
  return (seen !== undefined && isSchedulingHeld(seen)) || after.generation - (seen?.generation ?? 0) > 1;
}
