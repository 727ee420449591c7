import type { Caches } from "../../cache/caches.ts";
import type { StoreChange } from "../../cache/store/store.ts";
import type { Config } from "../../domain/config/digest.ts";
import type { Workload } from "../../domain/model/workload.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { EventRecorder } from "../../kube/events/event-recorder.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Priority } from "../../runtime/fair-queue.ts";
import type { Leadership } from "../../runtime/leadership.ts";
import { TokenBucket } from "../../runtime/token-bucket.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { createOwnership } from "../owner-references/controller.ts";
import { createPendingPods } from "../pending-pods/pending-pods.ts";
import { createLiveReads } from "./freshness/live-reads.ts";
import { rolloutMetrics } from "./report/rollout-metrics.ts";
import { Term } from "./workers.ts";

/** Rolls workloads while it leads. */
export interface Controller {
  /** To be told of every change of a workload that the caches hold. Without effect while it does not lead. */
  onWorkloadChange(change: StoreChange<Workload>): void;
  /** To be told of every change of a ConfigMap or Secret that the caches hold. Without effect while it does not lead. */
  onConfigChange(change: StoreChange<Config>): void;
  /** To be told of every ConfigMap and Secret, by its key, that has other owners. Without effect while it does not lead. */
  onOwnersChange(configKey: string): void;
  /** To be told when the policy is another one: every workload is planned again. Without effect while it does not lead. */
  onPolicyChange(): void;
  /** To be told when what a Namespace decides for its workloads is something else. Without effect while it does not lead. */
  onNamespaceChange(namespace: string): void;
  /** To be told when a kind was listed, in a namespace or in all (""). Without effect while it does not lead. */
  onListed(kind: string, namespace: string): void;
  /**
   * Works for one term: once all caches are synced, plans every workload once, and then those that a change concerns.
   * After `leadership.stop` it takes nothing new, finishes the writes in flight, tells of them for a second, and resolves; after
   * `leadership.abort` it aborts them and resolves at once. Can be called again for another term.
   */
  run(leadership: Leadership): Promise<void>;
}

/** What a controller is made from. */
export interface ControllerOptions {
  readonly client: ApiClient;
  readonly caches: Pick<
    Caches,
    | "lookup"
    | "heardUpTo"
    | "workload"
    | "workloads"
    | "workloadsIn"
    | "workloadsReading"
    | "kinds"
    | "owners"
    | "whenSynced"
  >;
  readonly policy: Policy;
  /** Learns the keys of hashes that other replicas have made; rejects where it cannot. Undefined where there are none. */
  readonly readHashKeys?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly recorder: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Writes a second, after a burst of `updateBurst`; Infinity: no limit. */
  readonly updateRate: number;
  readonly updateBurst: number;
  /** How often everything is planned again besides at every change; 0: never. */
  readonly syncPeriodMs: number;
  /** Whether Wave's webhooks are on. Then Pods that an opened gate still holds are replaced. */
  readonly webhooks: boolean;
  /**
   * How many workloads are written at once, four fifths of them of one namespace. Default 40: more do not make an API
   * server on two cores any faster.
   */
  readonly workers?: number;
  /** Numbers in [0, 1), for the delays between tries. Default Math.random. */
  readonly random?: () => number;
}

/** Nothing happens before `run`. */
export function createController(options: ControllerOptions): Controller {
  const { client, caches, policy, clock, log, updateRate, updateBurst, workers = 40, random = Math.random } = options;
  // Not of a term: what was written in the one before counts.
  const tokens = new TokenBucket({ clock, perSecond: updateRate, burst: updateBurst });
  const pendingPods = createPendingPods({ client, caches, policy, clock, log, random });
  const ownership = createOwnership({ ...options, random });
  let term: Term | undefined;
  const kinds = () => caches.kinds().map(({ id }) => id);
  const metrics = rolloutMetrics(options.metrics, clock, kinds, () => term?.observed);

  async function run(leadership: Leadership): Promise<void> {
    const stop = AbortSignal.any([leadership.stop, leadership.abort]);
    try {
      await caches.whenSynced(stop);
    } catch (error) {
      if (stop.aborted) return;
      throw error;
    }
    // From here to the term's first look at the caches nothing is awaited, so no change can get lost in between.
    const live = createLiveReads({ client, policy, cached: caches.lookup, signal: leadership.abort });
    term = new Term({ ...options, leadership, live, tokens, metrics, workers, random });
    try {
      const beside = [options.webhooks && pendingPods.run({ ...leadership, stop }), ownership?.run(leadership)];
      await Promise.all([term.run(), ...beside]);
    } finally {
      term = undefined;
    }
  }

  return {
    onWorkloadChange: (change) => {
      term?.changed(change.key, priorityOf(change));
      pendingPods.onWorkloadChange(change);
      ownership?.onWorkloadChange(change);
    },
    onConfigChange: (change) => {
      term?.configChanged(change, priorityOf(change));
      ownership?.onConfigChange(change);
    },
    onOwnersChange: (key) => ownership?.onOwnersChange(key),
    onPolicyChange: () => term?.planAll(),
    onNamespaceChange: (namespace) => {
      term?.planAll(namespace);
      pendingPods.onNamespaceChange(namespace);
      ownership?.onNamespaceChange(namespace);
    },
    onListed: pendingPods.onListed,
    run,
  };
}

/** What a list brings (at the start, or after a gap in the watch) lets single changes go first. */
function priorityOf({ initial }: StoreChange<unknown>): Priority {
  return initial ? "low" : "high";
}
