// Reads the Pods of canaries and of slow rollouts: their containers may restart again and again, or they may not start at all.

import type { Pod } from "#kubernetes";
import { workloadPath } from "../../../cache/workloads/workload-reads.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { namespaceOf, type Workload, workloadKey } from "../../../domain/model/workload-shape.ts";
import { isEditedSinceRollout } from "../../../domain/pacing/rollout-time.ts";
import { rolloutStartOf } from "../../../domain/pacing/validator.ts";
import {
  earlierPodsFail,
  mayWaitForVolume,
  type NewPods,
  newPodsOf,
  stuckAfterMs,
  withVolumeReason,
} from "../../../domain/pods/new-pods.ts";
import {
  type ObservedPod,
  observePod,
  quotaReason,
  quotaReasonOf,
  refusedReason,
  type StuckReason,
  volumeReason,
} from "../../../domain/pods/observed-pod.ts";
import { podOwner, podSelector } from "../../../domain/pods/pod-owner.ts";
import { isValidator } from "../../../domain/policy/rules.ts";
import { apiFailureOf, retryAfterMs } from "../../../kube/api/api-failure.ts";
import { type KubeObject, resources } from "../../../kube/api/resources.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { eventMessage, freshList, getIfExists } from "../../../kube/reads/reads.ts";
import { done, type Result, Workers } from "../../../runtime/workers.ts";
import { errorText, logMessages } from "../../../telemetry/logging/log-messages.ts";
import type { LeaderParts } from "../../leader-context.ts";

/** What a {@link NewPodsWatch} needs. */
export interface NewPodsWatchOptions
  extends LeaderParts<"clock" | "log" | "random" | "leadership", "workload" | "kinds"> {
  readonly client: Pick<ApiClient, "request" | "stream">;
  /** How long the Pods of a rollout are read, in milliseconds. */
  readonly watchMs: number;
  /** Returns the last rollout of a workload that this process wrote, in monotonic milliseconds. The cache may be behind. */
  readonly lastWrite: (workload: Workload) => { readonly hash: string; readonly at: number } | undefined;
  /** Receives the key of a workload whose Pods show something else now. */
  readonly onChange: (key: string) => void;
}

/** The rollout of a workload, and what its Pods have shown. */
interface WatchedRollout {
  readonly uid: string;
  readonly hash: string | undefined;
  /** The time of the rollout, in monotonic milliseconds. */
  readonly since: number;
  /** Since when this process reads its Pods, in monotonic milliseconds. The clock of an earlier leader may differ. */
  readonly readSince: number;
  /** Whether the Pods before the rollout restarted as often. */
  earlierFail?: boolean;
  /** When its Pods were last stuck, in monotonic milliseconds. Then they have the whole time of a rollout for their start. */
  stuckAt?: number;
  shown: NewPods | undefined;
}

/** The Pods of a workload, and why the API server rejects others. */
interface ReadPods {
  readonly pods: readonly ObservedPod[];
  readonly refused: StuckReason | undefined;
  /** When they were read, by the clock of the API server as their own times, in milliseconds since the epoch. */
  readonly now: number;
}

/** Limits: Wave reads the Pods of so many rollouts, so many of one namespace, so many at once, and so many Pods of each. */
const maxWatched = 1_000;
const maxInNamespace = 100;
const readsAtOnce = 2;
const maxPods = 1_000;
/** The time between two reads, in milliseconds: by itself, for each Pod, and for each rollout. Kubernetes waits longer and longer before a restart. */
const periodMs = 10_000;
const validatorPeriodMs = 2_000;
const periodPerPodMs = 20;
const periodPerRolloutMs = 300;
const slowPeriodMs = 60_000;
const backoff = { baseMs: 1_000, retryMaxMs: 60_000 };
/** Every container matters: no configuration is compared. */
const nothingRead = { includes: () => false, byEachContainer: false };

/** Reads the Pods of canaries for a time after their rollout, and those of slow rollouts. Remembers nothing that another leader could not read again. */
export class NewPodsWatch {
  readonly #options: NewPodsWatchOptions;
  readonly #workers: Workers;
  readonly #watched = new Map<string, WatchedRollout>();

  constructor(options: NewPodsWatchOptions) {
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
    const { caches, watchMs } = this.#options;
    const workload = caches.workload(key);
    if (workload !== undefined) this.#watch(key, workload, (age) => age < watchMs);
  }

  /** Reads the Pods of a workload from now on if its rollout is slow, and those of a validator in any case. Returns when it is going to be slow, in monotonic milliseconds; undefined if not. */
  watchIfSlow(key: string): number | undefined {
    const { caches, watchMs } = this.#options;
    const workload = caches.workload(key);
    if (workload === undefined) return undefined;
    const known = this.#watched.get(key);
    if (known?.shown?.state === "stuck" && !isSlow(workload)) known.shown = undefined;
    if (isValidator(workload)) {
      this.#watch(key, workload, (age) => age < watchMs || isSlow(workload));
      return undefined;
    }
    if (!isSlow(workload) || isEditedSinceRollout(workload)) return undefined;
    // By a clock that is behind, a rollout of an earlier leader is in the future. Its age is not known.
    const since = this.#watch(key, workload, (age) => age < 0 || age >= stuckAfterMs);
    return since === undefined ? undefined : since + stuckAfterMs;
  }

  /** Returns when the rollout began, in monotonic milliseconds; undefined if its Pods cannot be read. */
  #watch(key: string, workload: Workload, isWanted: (age: number) => boolean): number | undefined {
    const { clock, lastWrite } = this.#options;
    if (!workload.strategy.podsCarryHash || workload.row.replicaSetLabel === undefined) return undefined;
    const now = clock.monotonic();
    const ofValidator = isValidator(workload);
    const storedAt = rolloutStartOf(workload, clock.wall());
    const stored = { hash: workload.recordedHash, at: now - (clock.wall() - storedAt) };
    const own = lastWrite(workload);
    const isNewer = ofValidator && own !== undefined && own.hash === stored.hash && stored.at > own.at + 1_000;
    const { hash, at } = own === undefined || isNewer ? stored : own;
    const known = this.#watched.get(key);
    const hasSameHash = known?.uid === workload.uid && known.hash === hash;
    const isWatched = hasSameHash && at <= known.since + 1_000;
    // A workload may roll again with the same hash: after a revert, by `wave roll`, or because another client wrote its template.
    if (hasSameHash && !isWatched) this.#watched.delete(key);
    // The hash of a validator may be recorded beside its pod template.
    if ((hash === undefined && !ofValidator) || !isWanted(now - at) || isOther(workload, hash, now - at)) return at;
    if (isWatched) return at;
    if (!this.#watched.has(key) && !this.#hasPlace(workload.namespace)) return undefined;
    this.#watched.set(key, { uid: workload.uid, hash, since: at, readSince: now, shown: { state: "unread" } });
    // A rollout in the future may just have begun. A new leader does not read the Pods of each.
    this.#workers.add(key, { urgency: "low", delayMs: at > now && !ofValidator ? stuckAfterMs : 0 });
    return at;
  }

  /** A tenant with many broken workloads leaves places for others. */
  #hasPlace(namespace: string): boolean {
    const ofNamespace = this.#watched.keys().filter((key) => namespaceOf(key) === namespace);
    return this.#watched.size < maxWatched && ofNamespace.reduce((count) => count + 1, 0) < maxInNamespace;
  }

  /** Returns what the Pods of the last rollout of a workload show; undefined if they show no failure, or are not read. */
  of(workload: Workload): NewPods | undefined {
    const watched = this.#watched.get(workloadKey(workload));
    return watched?.uid === workload.uid && watched.hash === workload.recordedHash ? watched.shown : undefined;
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#workers.run(signal);
  }

  async #run(key: string): Promise<Result> {
    const { caches, clock, leadership, log, watchMs } = this.#options;
    const watched = this.#watched.get(key);
    const workload = caches.workload(key);
    if (watched === undefined) return done;
    const readMs = clock.monotonic() - watched.readSince;
    const age = Math.max(readMs, clock.monotonic() - watched.since);
    const isOver =
      workload?.uid !== watched.uid || isOther(workload, watched.hash, age) || isEditedByOthers(workload, watched);
    if (workload === undefined || isOver) return this.#end(key, watched);
    try {
      const read = await this.#read(workload, watched);
      if (read === undefined) return this.#end(key, watched);
      const { pods } = read;
      this.#update(key, watched, workload, read);
      if (age >= watchMs && watched.shown === undefined && !isSlow(workload)) return this.#end(key, watched);
      // All other workloads wait for a validator. Its container may also exit a moment after it was ready.
      const isAwaited = isValidator(workload) && (age < stuckAfterMs || (isSlow(workload) && age < watchMs));
      const leastMs = Math.max(
        isAwaited ? validatorPeriodMs : periodMs,
        pods.length * periodPerPodMs,
        this.#watched.size * periodPerRolloutMs,
      );
      return { type: "requeueAfter", delayMs: readMs >= watchMs ? Math.max(slowPeriodMs, leastMs) : leastMs };
    } catch (error) {
      if (leadership.abort.aborted) return done;
      const failure = apiFailureOf(error);
      if (failure === undefined) throw error;
      log.warn(logMessages.canaryPodsUnread, { workload: key, error: errorText(error) });
      if (failure.type !== "forbidden") return { type: "retry", atLeastMs: retryAfterMs(error) };
      // The entry stays: the Pods show nothing, and are not about to be read.
      this.#show(key, watched, undefined);
      return done;
    }
  }

  async #read(workload: Workload, watched: WatchedRollout): Promise<ReadPods | undefined> {
    const { client, caches, clock, log, leadership } = this.#options;
    const signal = leadership.abort;
    const request = { path: workloadPath(workload), signal };
    const owner = await getIfExists<KubeObject & WorkloadObject>(client, request);
    if (owner === undefined) return undefined;
    const { selector } = (owner.spec ?? {}) as { readonly selector?: unknown };
    const found = new Map<string, ObservedPod>();
    const kinds = caches.kinds();
    const key = workloadKey(workload);
    const options = { client, clock, log, signal };
    const { namespace } = workload;
    let answeredAt: number | undefined;
    const query = {
      labelSelector: podSelector(selector),
      answered: (at: number | undefined) => {
        answeredAt ??= at;
      },
    };
    let read = 0;
    for await (const object of freshList<KubeObject & Pod>(resources.pods, namespace, options, query)) {
      if (++read > maxPods) break;
      const owner = podOwner(object.metadata, kinds);
      if (owner !== undefined && workloadKey(owner) === key)
        found.set(object.metadata.uid, observePod(object, nothingRead, workload));
    }
    const pods = [...found.values()];
    const now = answeredAt === undefined ? clock.wall() : answeredAt * 1000;
    const messageOf = (uid: string, reason: string, since: number) =>
      eventMessage(client, { namespace, uid, reason, since }, signal);
    const waiting = pods.findIndex((pod) => pod.hash === watched.hash && mayWaitForVolume(pod, now));
    const pod = pods[waiting];
    const unattached = pod && (await messageOf(pod.uid, volumeReason, pod.createdAt));
    if (pod !== undefined && unattached !== undefined) pods[waiting] = withVolumeReason(pod, unattached);
    const lacksPods = isSlow(workload) && pods.every(({ hash, ready }) => hash !== watched.hash || ready);
    if (!lacksPods) return { pods, refused: undefined, now };
    const since = workload.rolledAt * 1000;
    const refused = quotaReasonOf(owner.status) ?? quotaReason(await messageOf(workload.uid, refusedReason, since));
    return { pods, refused, now };
  }

  #update(key: string, watched: WatchedRollout, workload: Workload, { pods, refused, now }: ReadPods): void {
    const { clock, watchMs } = this.#options;
    const rolledAt = workload.recordedHash === watched.hash ? rolloutStartOf(workload, now) : 0;
    const rollout = { hash: watched.hash, rolledAt, now, ofValidator: isValidator(workload) };
    watched.earlierFail ||= earlierPodsFail(pods, rollout);
    const found = newPodsOf(pods, rollout, refused);
    const shown = watched.earlierFail && found?.state === "restarts" ? undefined : found;
    const monotonic = clock.monotonic();
    // Until this read they may have been stuck.
    if (shown?.state === "stuck" || watched.shown?.state === "stuck") watched.stuckAt = monotonic;
    const mayStart = isSlow(workload) && watched.stuckAt !== undefined && monotonic - watched.stuckAt < watchMs;
    this.#show(key, watched, shown ?? (mayStart ? { state: "unread" } : undefined));
  }

  #show(key: string, watched: WatchedRollout, shown: NewPods | undefined): void {
    if (this.#watched.get(key) !== watched) return;
    const before = watched.shown;
    watched.shown = shown;
    if (before?.state !== shown?.state) this.#options.onChange(key);
  }

  #end(key: string, watched: WatchedRollout): Result {
    if (this.#watched.get(key) !== watched) return done;
    this.#watched.delete(key);
    if (watched.shown !== undefined) this.#options.onChange(key);
    return done;
  }
}

/** Reports whether the last rollout of a workload has not replaced all Pods. */
function isSlow({ progress }: Workload): boolean {
  return progress.state === "progressing" || progress.state === "failed";
}

/** Reports whether a rollout with this hash is no longer that of the workload: for a minute, the cache may be behind. `age`: in milliseconds. */
function isOther({ recordedHash }: Workload, hash: string | undefined, age: number): boolean {
  return recordedHash !== hash && age > slowPeriodMs;
}

/** Reports whether another client changed the pod template after the rollout. Its Pods may fail for another reason. */
function isEditedByOthers(workload: Workload, { hash }: WatchedRollout): boolean {
  return workload.recordedHash === hash && isEditedSinceRollout(workload) && !isValidator(workload);
}
