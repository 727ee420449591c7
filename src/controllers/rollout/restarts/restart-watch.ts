// Reads the Pods of canaries, and finds those whose containers restart again and again, whatever their readiness.
import type { Pod } from "#kubernetes";
import type { Caches } from "../../../cache/caches.ts";
import { workloadPath } from "../../../cache/workloads/workload-resource.ts";
import { namespaceOf, type Workload, type WorkloadObject, workloadKey } from "../../../domain/model/workload.ts";
import { earlierPodsFail, type FailingContainer, failingContainer } from "../../../domain/pods/failing-container.ts";
import { type ObservedPod, observePod } from "../../../domain/pods/observed-pod.ts";
import { podOwner } from "../../../domain/pods/pod-owner.ts";
import { podSelector } from "../../../domain/pods/pod-selector.ts";
import { apiFailureOf, retryAfterMs } from "../../../kube/api/api-failure.ts";
import type { KubeObject } from "../../../kube/api/api-types.ts";
import { resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { freshList } from "../../../kube/reads/fresh-list.ts";
import { getIfExists } from "../../../kube/reads/get-if-exists.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Leadership } from "../../../runtime/leadership.ts";
import { done, type Result } from "../../../runtime/result.ts";
import { Workers } from "../../../runtime/workers.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { Logger } from "../../../telemetry/logging/log.ts";
import { logMessages } from "../../../telemetry/logging/log-messages.ts";

/** What a {@link RestartWatch} needs. */
export interface RestartWatchOptions {
  readonly client: Pick<ApiClient, "request" | "stream">;
  readonly caches: Pick<Caches, "workload" | "kinds">;
  readonly leadership: Leadership;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** How long the Pods of a rollout are read, in milliseconds. */
  readonly watchMs: number;
  /** Returns the last rollout of a workload that this process wrote, in monotonic milliseconds. The cache may be behind. */
  readonly lastRollout: (workload: Workload) => { readonly hash: string; readonly at: number } | undefined;
  /** Receives the key of a workload that fails now, or no longer. */
  readonly onChange: (key: string) => void;
}

/** The rollout of a workload, and what its Pods have shown. */
interface WatchedRollout {
  readonly uid: string;
  readonly hash: string;
  /** The time of the rollout, in monotonic milliseconds. */
  readonly since: number;
  /** The label selector of its Pods, from its first read. */
  selector?: string;
  /** Whether the Pods before the rollout restarted as often. */
  earlierFail?: boolean;
  failing?: FailingContainer | undefined;
}

/** Limits: Wave reads the Pods of so many rollouts, so many at once, and so many Pods of each. */
const maxWatched = 32;
const readsAtOnce = 2;
const maxPods = 1_000;
/** The time between two reads, in milliseconds: by itself, and for each Pod. Kubernetes waits longer and longer before a restart. */
const periodMs = 10_000;
const periodPerPodMs = 20;
const failingPeriodMs = 60_000;
const backoff = { baseMs: 1_000, retryMaxMs: 60_000 };
/** Every container matters: no configuration is compared. */
const nothingRead = { includes: () => false, byEachContainer: false };

/** Reads the Pods of canaries for a time after their rollout. Remembers nothing that another leader could not read again. */
export class RestartWatch {
  readonly #options: RestartWatchOptions;
  readonly #workers: Workers;
  readonly #watched = new Map<string, WatchedRollout>();

  constructor(options: RestartWatchOptions) {
    const { clock, random } = options;
    this.#options = options;
    this.#workers = new Workers({
      clock,
      random,
      workers: readsAtOnce,
      flowOf: namespaceOf,
      backoff,
      urgencyOf: () => "low",
      reconcile: (key) => this.#run(key),
    });
  }

  /** Reads the Pods of a workload that was just rolled, from now on. Has no effect if its rollout is watched already, or too old. */
  watch(key: string): void {
    const { caches, clock, lastRollout, watchMs } = this.#options;
    const workload = caches.workload(key);
    if (workload === undefined || !workload.strategy.podsCarryHash || workload.row.replicaSetLabel === undefined)
      return;
    const now = clock.monotonic();
    const stored = { hash: workload.recordedHash, at: now - Math.max(0, clock.wall() - workload.rolledAt * 1000) };
    const { hash, at } = lastRollout(workload) ?? stored;
    const before = this.#watched.get(key);
    if (hash === undefined || now - at >= watchMs || (before?.uid === workload.uid && before.hash === hash)) return;
    if (before === undefined && this.#watched.size >= maxWatched) return;
    this.#watched.set(key, { uid: workload.uid, hash, since: at });
    this.#workers.add(key, { urgency: "low" });
  }

  /** Returns the container of the last rollout of a workload that restarts again and again; undefined if none does. */
  failing(workload: Workload): FailingContainer | undefined {
    const watched = this.#watched.get(workloadKey(workload));
    return watched?.uid === workload.uid && watched.hash === workload.recordedHash ? watched.failing : undefined;
  }

  /** Reads Pods until the leadership ends. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#workers.run(signal);
  }

  async #run(key: string): Promise<Result> {
    const { caches, clock, leadership, log, watchMs } = this.#options;
    const watched = this.#watched.get(key);
    const workload = caches.workload(key);
    if (watched === undefined) return done;
    const age = clock.monotonic() - watched.since;
    const isOther = workload?.recordedHash !== watched.hash && age > failingPeriodMs;
    if (workload === undefined || workload.uid !== watched.uid || isOther || isEditedByOthers(workload, watched)) {
      this.#end(key, watched);
      return done;
    }
    try {
      const pods = await this.#read(workload, watched);
      if (pods === undefined) return done;
      this.#update(key, watched, workload, pods);
      if (age >= watchMs && watched.failing === undefined) {
        this.#end(key, watched);
        return done;
      }
      const delayMs = age >= watchMs ? failingPeriodMs : Math.max(periodMs, pods.length * periodPerPodMs);
      return { type: "requeueAfter", delayMs };
    } catch (error) {
      if (leadership.abort.aborted) return done;
      const failure = apiFailureOf(error);
      if (failure === undefined) throw error;
      log.warn(logMessages.canaryPodsUnread, { workload: key, error: errorText(error) });
      if (failure.type !== "forbidden") return { type: "retry", atLeastMs: retryAfterMs(error) };
      this.#end(key, watched);
      return done;
    }
  }

  async #read(workload: Workload, watched: WatchedRollout): Promise<readonly ObservedPod[] | undefined> {
    const { client, caches, clock, log, leadership } = this.#options;
    const signal = leadership.abort;
    if (watched.selector === undefined) {
      const request = { path: workloadPath(workload), signal };
      const object = await getIfExists<KubeObject & WorkloadObject>(client, request);
      if (object === undefined) return undefined;
      watched.selector = podSelector((object.spec as { readonly selector?: unknown } | undefined)?.selector);
    }
    const found = new Map<string, ObservedPod>();
    const kinds = caches.kinds();
    const key = workloadKey(workload);
    const options = { client, clock, log, signal };
    const { namespace } = workload;
    const query = { labelSelector: watched.selector };
    let read = 0;
    for await (const object of freshList<KubeObject & Pod>(resources.pods, namespace, options, query)) {
      if (++read > maxPods) break;
      const owner = podOwner(object.metadata, kinds);
      if (owner !== undefined && workloadKey(owner) === key)
        found.set(object.metadata.uid, observePod(object, nothingRead, workload));
    }
    return [...found.values()];
  }

  #update(key: string, watched: WatchedRollout, workload: Workload, pods: readonly ObservedPod[]): void {
    if (this.#watched.get(key) !== watched) return;
    const { clock, onChange } = this.#options;
    const rolledAt = workload.recordedHash === watched.hash ? workload.rolledAt * 1000 : 0;
    const rollout = { hash: watched.hash, rolledAt, now: clock.wall() };
    watched.earlierFail ||= earlierPodsFail(pods, rollout);
    const wasFailing = watched.failing !== undefined;
    watched.failing = watched.earlierFail ? undefined : failingContainer(pods, rollout);
    if (wasFailing === (watched.failing !== undefined)) return;
    onChange(key);
  }

  #end(key: string, watched: WatchedRollout): void {
    if (this.#watched.get(key) !== watched) return;
    this.#watched.delete(key);
    if (watched.failing !== undefined) this.#options.onChange(key);
  }
}

/** Reports whether another client changed the pod template after the rollout. Its Pods may fail for another reason. */
function isEditedByOthers({ recordedHash, templateEditedAt, rolledAt }: Workload, { hash }: WatchedRollout): boolean {
  return recordedHash === hash && templateEditedAt > rolledAt;
}
