import type { Caches } from "../../cache/cluster-cache.ts";
import { createListedConfigs } from "../../cache/live/listed-configs.ts";
import { createPodLists } from "../../cache/live/listed-pods.ts";
import type { Judged } from "../../domain/plan/verdict.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { runAll } from "../../lib/run-all.ts";
import { TokenBucket } from "../../runtime/token-bucket.ts";
import { type Leadership, WritePermits } from "../../runtime/write-permits.ts";
import { ownerReferenceMetrics } from "../../telemetry/catalogue/owner-references.ts";
import { workloadMetrics } from "../../telemetry/catalogue/workloads.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { JobReplacements } from "../job-replacements/controller.ts";
import type { LeaderController } from "../leader-context.ts";
import { OwnerReferences } from "../owner-references/controller.ts";
import { PendingPods } from "../pending-pods/controller.ts";
import { type CollectorTimes, CopyCollector, collectorTimes, copyMetrics } from "../pinned-copies/controller.ts";
import { createLiveReads } from "./freshness/live-plan.ts";
import { rolloutMetrics } from "./report/rollout-metrics.ts";
import { RolloutWorkers, type RolloutWorkersOptions } from "./rollout-workers.ts";

/** Rolls workloads while Wave leads. Without leadership, the changes that it receives have no effect. */
export interface Controller extends Required<Omit<LeaderController, "run">> {
  /** Receives a change of the policy: every workload is reconciled again. */
  onPolicyChange(): void;
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
    "leadership" | "live" | "pods" | "permits" | "metrics" | "workers" | "onWaiting"
  > {
  readonly client: ApiClient;
  readonly caches: Caches;
  readonly metrics: MetricsRegistry;
  /** The writes per second, after a burst of `updateBurst`; Infinity: no limit. */
  readonly updateRate: number;
  readonly updateBurst: number;
  /**
   * The number of workloads that are written at once, at most four fifths of them in one namespace. Default 40: more do
   * not make an API server on two cores faster.
   */
  readonly workers?: number;
  /** The times of the collector of pinned copies. Default: those of production. */
  readonly collectorTimes?: CollectorTimes;
}

/** Returns the controller. Nothing happens before `run`. */
export function createController(options: ControllerOptions): Controller {
  const { client, caches, policy, clock, log, updateRate, updateBurst, workers = 40 } = options;
  // Kept for all leaderships: writes of the one before use up the rate, too.
  const tokens = new TokenBucket({ clock, perSecond: updateRate, burst: updateBurst });
  const writesNothing = policy.pacing.observe;
  const keepsOwners = policy.ownership !== undefined && !writesNothing;
  const ownerWrites = keepsOwners ? options.metrics.counter(ownerReferenceMetrics.writes) : undefined;
  const pins = policy.pinConfig === true && !writesNothing;
  let collector: CopyCollector | undefined;
  const copyWrites = pins ? copyMetrics(options.metrics, () => collector?.counts ?? []) : undefined;
  let controllers: readonly LeaderController[] = [];
  let rollouts: RolloutWorkers | undefined;
  const kinds = () => caches.kinds().map(({ id }) => id);
  options.metrics.gauge(workloadMetrics.onlyObserves).set(writesNothing ? 1 : 0);
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
    const waiting = () => rollouts?.waiting ?? 0;
    const listed = createListedConfigs({ client, caches, policy, waiting, clock, log, signal });
    const live = createLiveReads({ client, policy, caches, listed, signal });
    const pods = createPodLists({ client, caches, clock, log, signal });
    try {
      await runAll(stop, (signal) => {
        // If one controller fails, the others stop in good order. `stop` includes `abort`.
        const inOrder = { ...leadership, stop: signal };
        const permits = new WritePermits({ clock, tokens, leadership: inOrder });
        // The Events of all controllers wait in the outbox of the rollouts: many Events delay no write, and a lost Event is counted.
        const post = (event: ObjectEvent) => rollouts?.post(event);
        const waitingFor = (key: string) => rollouts?.waitingFor(key);
        const shared = { ...options, leadership: inOrder, permits, post };
        const pendingPods = options.webhooks ? new PendingPods({ ...shared, waitingFor }) : undefined;
        const onUnpinned = options.webhooks ? (key: string) => rollouts?.podsUnpinned(key) : undefined;
        const times = options.collectorTimes ?? collectorTimes;
        collector = copyWrites && new CopyCollector({ ...shared, writes: copyWrites, times, onUnpinned });
        rollouts = new RolloutWorkers({
          ...shared,
          live,
          pods,
          metrics,
          workers,
          onWaiting: (namespace) => pendingPods?.onWaiting(namespace),
        });
        controllers = [
          rollouts,
          pendingPods,
          ownerWrites && new OwnerReferences({ ...shared, writes: ownerWrites }),
          collector,
          writesNothing ? undefined : new JobReplacements(shared),
        ].filter((each) => each !== undefined);
        return controllers.map((each) => each.run());
      });
    } finally {
      rollouts = undefined;
      collector = undefined;
      controllers = [];
    }
  }

  return {
    onWorkloadChange: (change) => {
      for (const each of controllers) each.onWorkloadChange?.(change);
    },
    onConfigChange: (change) => {
      for (const each of controllers) each.onConfigChange?.(change);
    },
    onOwnersChange: (key) => {
      for (const each of controllers) each.onOwnersChange?.(key);
    },
    onPolicyChange: () => rollouts?.onNamespaceChange(),
    onNamespaceChange: (namespace) => {
      for (const each of controllers) each.onNamespaceChange?.(namespace);
    },
    onListed: (kind, namespace) => {
      for (const each of controllers) each.onListed?.(kind, namespace);
    },
    judged: () => rollouts?.judged(),
    run,
  };
}
