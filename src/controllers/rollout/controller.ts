import type { Caches } from "../../cache/cluster-cache.ts";
import { createListedConfigs } from "../../cache/live/listed-configs.ts";
import { createPodLists } from "../../cache/live/listed-pods.ts";
import type { StoreChange } from "../../cache/store/store.ts";
import type { Config } from "../../domain/config/digest.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import type { Judged } from "../../domain/plan/verdict.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { runAll } from "../../lib/run-all.ts";
import type { Priority } from "../../runtime/fair-queue.ts";
import { TokenBucket } from "../../runtime/token-bucket.ts";
import { type Leadership, WritePermits } from "../../runtime/write-permits.ts";
import { workloadMetrics } from "../../telemetry/catalogue/workloads.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { createJobReplacements } from "../job-replacements/controller.ts";
import { createOwnership } from "../owner-references/controller.ts";
import { createPendingPods } from "../pending-pods/controller.ts";
import { createCopyCollector } from "../pinned-copies/controller.ts";
import type { CollectorTimes } from "../pinned-copies/sweep.ts";
import { createLiveReads } from "./freshness/live-plan.ts";
import { rolloutMetrics } from "./report/rollout-metrics.ts";
import { RolloutWorkers, type RolloutWorkersOptions } from "./rollout-workers.ts";

/** Rolls workloads while Wave leads. Without leadership, the changes that it receives have no effect. */
export interface Controller {
  /** Receives every change of a workload in the caches. */
  onWorkloadChange(change: StoreChange<Workload>): void;
  /** Receives every change of a ConfigMap or Secret in the caches. */
  onConfigChange(change: StoreChange<Config>): void;
  /** Receives the key of every ConfigMap and Secret whose owners changed. */
  onOwnersChange(configKey: string): void;
  /** Receives a change of the policy: every workload is reconciled again. */
  onPolicyChange(): void;
  /** Receives every namespace whose Namespace annotations changed. */
  onNamespaceChange(namespace: string): void;
  /** Receives every list of a kind, in a namespace or in all namespaces (""). */
  onListed(kind: string, namespace: string): void;
  /** Returns up to when every change is judged; undefined if Wave does not lead, or only observes. */
  judged(): Judged | undefined;
  /**
   * Works for one leadership: when all caches are synced, reconciles every workload once, and then the workloads that a
   * change concerns. After `leadership.stop` nothing new starts: finishes the running writes, sends Events for up to one
   * second, and resolves. After `leadership.abort` it aborts the writes and resolves at once. Can be called again.
   */
  run(leadership: Leadership): Promise<void>;
}

/** What {@link createController} needs: the workers get the rest with each leadership. */
export interface ControllerOptions
  extends Omit<
    RolloutWorkersOptions,
    "leadership" | "live" | "pods" | "permits" | "metrics" | "workers" | "random" | "onWaiting"
  > {
  readonly client: ApiClient;
  readonly caches: RolloutWorkersOptions["caches"] &
    Pick<Caches, "countIn" | "workloadsSyncedUpTo" | "owners" | "whenSynced">;
  readonly metrics: MetricsRegistry;
  /** The writes per second, after a burst of `updateBurst`; Infinity: no limit. */
  readonly updateRate: number;
  readonly updateBurst: number;
  /**
   * The number of workloads that are written at once, at most four fifths of them in one namespace. Default 40: more do
   * not make an API server on two cores faster.
   */
  readonly workers?: number;
  /** Numbers in [0, 1), for the delays of retries. Default: Math.random. */
  readonly random?: () => number;
  /** The times of the collector of pinned copies. Default: those of production. */
  readonly collectorTimes?: CollectorTimes;
}

/** Returns the controller. Nothing happens before `run`. */
export function createController(options: ControllerOptions): Controller {
  const { client, caches, policy, clock, log, updateRate, updateBurst, workers = 40, random = Math.random } = options;
  // Kept for all leaderships: writes of the one before use up the rate, too.
  const tokens = new TokenBucket({ clock, perSecond: updateRate, burst: updateBurst });
  // Each controller runs beside the rollouts of a leadership, and its Events wait in their outbox: many Events delay no write, and a lost
  // Event is counted.
  const post = (event: ObjectEvent) => rollouts?.post(event);
  const waitingFor = (key: string) => rollouts?.waitingFor(key);
  const pendingPods = createPendingPods({ ...options, random, post, waitingFor });
  const ownership = createOwnership({ ...options, random });
  const replacements = createJobReplacements({ client, caches, policy, clock, log });
  const onUnpinned = options.webhooks ? (key: string) => rollouts?.podsUnpinned(key) : undefined;
  const collector = createCopyCollector({ ...options, random, onUnpinned, post });
  let rollouts: RolloutWorkers | undefined;
  const kinds = () => caches.kinds().map(({ id }) => id);
  options.metrics.gauge(workloadMetrics.onlyObserves).set(policy.pacing?.observe ? 1 : 0);
  const metrics = rolloutMetrics(options.metrics, clock, kinds, () => rollouts?.observed);

  async function run(leadership: Leadership): Promise<void> {
    const stop = AbortSignal.any([leadership.stop, leadership.abort]);
    try {
      await caches.whenSynced(stop);
    } catch (error) {
      if (stop.aborted) return;
      throw error;
    }
    // Nothing is awaited from here until all workloads are enqueued, so no change is lost in between.
    const signal = leadership.abort;
    const listed = createListedConfigs({ client, caches, compatibility: policy.compatibility, clock, log, signal });
    const live = createLiveReads({ client, policy, cached: caches.lookup, listed, signal });
    const pods = createPodLists({ client, caches, clock, log, signal });
    try {
      await runAll(stop, (signal) => {
        // If one controller fails, the others stop in good order.
        const inOrder = { ...leadership, stop: signal };
        const permits = new WritePermits({ clock, tokens, leadership: inOrder });
        rollouts = new RolloutWorkers({
          ...options,
          leadership: inOrder,
          live,
          pods,
          permits,
          metrics,
          workers,
          random,
          onWaiting: pendingPods.onWaiting,
        });
        const pending = options.webhooks ? [pendingPods.run(inOrder, permits)] : [];
        const owners = ownership === undefined ? [] : [ownership.run(inOrder, permits, post)];
        const copies = collector === undefined ? [] : [collector.run(inOrder, permits)];
        const jobs = policy.pacing?.observe ? [] : [replacements.run(inOrder, permits)];
        return [rollouts.run(), ...pending, ...owners, ...copies, ...jobs];
      });
    } finally {
      rollouts = undefined;
    }
  }

  return {
    onWorkloadChange: (change) => {
      rollouts?.workloadChanged(change.key, priorityOf(change));
      pendingPods.onWorkloadChange(change);
      ownership?.onWorkloadChange(change);
      collector?.onWorkloadChange(change);
    },
    onConfigChange: (change) => {
      rollouts?.configChanged(change, priorityOf(change));
      ownership?.onConfigChange(change);
      collector?.onConfigChange(change);
    },
    onOwnersChange: (key) => ownership?.onOwnersChange(key),
    onPolicyChange: () => rollouts?.enqueueAll(),
    onNamespaceChange: (namespace) => {
      rollouts?.enqueueAll(namespace);
      pendingPods.onNamespaceChange(namespace);
      ownership?.onNamespaceChange(namespace);
    },
    onListed: pendingPods.onListed,
    judged: () => rollouts?.judged(),
    run,
  };
}

/** Returns the priority of a change: single changes go before those of a list (at the start, or after a gap in the watch). */
function priorityOf({ initial }: StoreChange<unknown>): Priority {
  return initial ? "low" : "high";
}
