import type { Caches } from "../../cache/caches.ts";
import { invalidScheduler } from "../../domain/model/scheduling-hold.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { KubeList, KubeObject } from "../../kube/api/api-types.ts";
import { isConflict, isGone, isNotFound } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { onlyMetadata } from "../../kube/list-watch/paged-list.ts";
import type { Clock } from "../../lib/clock.ts";
import { backoffMs } from "../../runtime/backoff.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { WorkQueue } from "../../runtime/work-queue.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { createPodOwners, type PodOwners, type Verdict } from "./pod-owners.ts";

/** What looking for held Pods needs. */
export interface PendingPodsOptions {
  readonly client: Pick<ApiClient, "request">;
  readonly caches: Pick<Caches, "workload" | "kinds">;
  readonly policy: Policy;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
}

/** A pod template of 1 MiB must not come with each of them. Their metadata may be 300 kB each all the same. */
const podsAtOnce = 20;
const namespacesAtOnce = 4;
/** The controller of the Pods needs about as long to see that the gate is open; and so often a namespace is looked at. */
const afterOpeningMs = 250;
const retries = { baseMs: 250, maxMs: 30_000 };
/** Stands for all namespaces in the queue, to find those that have such Pods. */
const everywhere = "";

/**
 * One term's looking for Pods that an opened scheduling gate still holds: a queue of namespaces, a page of Pods of one at a time, and
 * what is found to be replaceable is deleted.
 */
export class PendingPodsSweep {
  readonly #options: PendingPodsOptions;
  readonly #leadership: Leadership;
  readonly #queue: WorkQueue;
  readonly #owners: PodOwners;
  /** Where the next page begins, and whether one before it left something to do, of namespaces that have more of them. */
  readonly #begun = new Map<string, { readonly next: string; readonly left: boolean }>();
  /** Namespaces in which a gate opened since their first page was read. */
  readonly #asked = new Set<string>();
  /** How often each namespace was looked at in vain. */
  readonly #tries = new Map<string, number>();
  /** Namespaces that the look everywhere has found so far: one with thousands of Pods is asked for once. */
  readonly #found = new Set<string>();

  constructor(options: PendingPodsOptions, leadership: Leadership) {
    const { clock } = options;
    this.#options = options;
    this.#leadership = leadership;
    this.#queue = new WorkQueue({ clock, flowOf: (namespace) => namespace });
    this.#owners = createPodOwners(options, leadership.abort);
  }

  ask(namespace: string): void {
    this.#asked.add(namespace);
    this.#queue.add(namespace, { delayMs: afterOpeningMs });
  }

  async run(): Promise<void> {
    const { stop, abort } = this.#leadership;
    const over = AbortSignal.any([stop, abort]);
    const close = () => this.#queue.close();
    over.addEventListener("abort", close, { once: true });
    if (over.aborted) close();
    for (const namespace of this.#options.policy.namespaces ?? [everywhere]) this.#queue.add(namespace);
    await Promise.all(Array.from({ length: namespacesAtOnce }, () => this.#work()));
  }

  async #work(): Promise<void> {
    for (let namespace = await this.#queue.next(); namespace !== undefined; namespace = await this.#queue.next()) {
      try {
        await this.#page(namespace);
      } catch (error) {
        if (isGone(error)) this.#begun.delete(namespace); // what is left of the list is no longer kept
        if (!this.#over) this.#warn(namespace, error);
        this.#retry(namespace);
      }
      this.#queue.done(namespace);
    }
  }

  get #over(): boolean {
    return this.#leadership.stop.aborted || this.#leadership.abort.aborted;
  }

  /** Looks at one page of Pods, deletes what can be deleted now, and asks for what remains to be done. */
  async #page(namespace: string): Promise<void> {
    const before = this.#begun.get(namespace);
    if (before === undefined) this.#asked.delete(namespace);
    const { items, metadata } = await this.#list(namespace, before?.next);
    const pods = (items ?? []).filter((pod) => pod?.metadata && pod.metadata.deletionTimestamp === undefined);
    const left = namespace === everywhere ? this.#askForEach(pods) : await this.#release(namespace, pods);
    const anyLeft = left || (before?.left ?? false);
    if (metadata.continue) {
      this.#begun.set(namespace, { next: metadata.continue, left: anyLeft });
      this.#queue.add(namespace);
      return;
    }
    this.#begun.delete(namespace);
    if (namespace === everywhere) this.#found.clear();
    if (anyLeft || this.#asked.has(namespace)) this.#retry(namespace);
    else this.#tries.delete(namespace);
  }

  #retry(namespace: string): void {
    const { random = Math.random } = this.#options;
    const tries = this.#tries.get(namespace) ?? 0;
    this.#tries.set(namespace, tries + 1);
    this.#queue.add(namespace, { delayMs: backoffMs(tries, { ...retries, random }) });
  }

  /** Pods that nobody schedules; the API server finds them without sending any other. */
  #list(namespace: string, next: string | undefined): Promise<KubeList<KubeObject>> {
    const fieldSelector = `spec.schedulerName=${invalidScheduler},spec.nodeName=`;
    const path = resourcePath(resources.pods, namespace === everywhere ? {} : { namespace });
    const query = { fieldSelector, limit: podsAtOnce, continue: next };
    const { abort: signal } = this.#leadership;
    return this.#options.client.request({ method: "GET", path, query, accept: onlyMetadata, signal });
  }

  #askForEach(pods: readonly KubeObject[]): boolean {
    for (const { metadata } of pods) {
      const { namespace } = metadata;
      if (namespace === undefined || this.#found.has(namespace)) continue;
      this.#found.add(namespace);
      this.#queue.add(namespace);
    }
    return false;
  }

  /** Whether something is left that will be deletable later, or may be. */
  async #release(namespace: string, pods: readonly KubeObject[]): Promise<boolean> {
    let left = false;
    let failure: { readonly error: unknown } | undefined;
    const replaced: string[] = [];
    const verdictOn = this.#owners.ofOnePage();
    for (const pod of pods) {
      if (this.#over || !this.#leadership.valid()) break;
      try {
        const verdict: Verdict = await verdictOn(pod);
        if (verdict !== "held") left = true; // Look once more: whether it may be now, or whether the new one is free.
        if (verdict !== "replaceable" || !this.#leadership.valid()) continue;
        await this.#remove(pod);
        replaced.push(pod.metadata.name);
      } catch (error) {
        failure ??= { error };
        left = true;
      }
    }
    if (replaced.length > 0) {
      const fields = { namespace, pods: replaced.length, first: replaced[0] };
      this.#options.log.info("replaced Pods that were held by an opened scheduling hold", fields);
    }
    if (failure !== undefined && !this.#over) this.#warn(namespace, failure.error);
    return left;
  }

  /** Deletes this very Pod, and only while it is as it was read. */
  async #remove({ metadata }: KubeObject): Promise<void> {
    const { namespace, name, uid, resourceVersion } = metadata;
    const path = resourcePath(resources.pods, { ...(namespace && { namespace }), name });
    const body = { preconditions: { uid, resourceVersion } };
    const { abort: signal, valid: mayBeSent } = this.#leadership;
    try {
      await this.#options.client.request({ method: "DELETE", path, body, signal, mayBeSent });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  #warn(namespace: string, error: unknown): void {
    this.#options.log.warn("cannot replace Pods that are held by opened scheduling holds; trying again", {
      namespace: namespace === everywhere ? undefined : namespace,
      error: errorText(error),
    });
  }
}
