import type { Config } from "../domain/config/digest.ts";
import type { RequestedKind } from "../domain/model/kinds/requested-kind.ts";
import type { Workload } from "../domain/model/workload.ts";
import type { PolicyFlags } from "../domain/policy/policy.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import type { StoreChange } from "./store/store.ts";

/** Options of the caches, without the connection to the API server. */
export interface CachesOptions extends Pick<PolicyFlags, "namespaces" | "compatibility" | "providerClasses"> {
  /** The Namespace in which Wave runs. Its annotation may hold every rollout. Undefined outside a cluster. */
  readonly ownNamespace?: string | undefined;
  /** Policy for references into other namespaces. With "none", no workload waits for another namespace. Default: not "none". */
  readonly crossNamespace?: PolicyFlags["crossNamespace"] | undefined;
  /** Kinds of workload in addition to the built-in ones. Each is used while the API server serves it. */
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
  /** The memory limit of the process, in bytes. Default: none. */
  readonly memoryLimit?: number | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Receives a change after the caches and the indexes hold it. */
  readonly onWorkloadChange: (change: StoreChange<Workload>) => void;
  /** Receives a change after the caches hold it. */
  readonly onConfigChange: (change: StoreChange<Config>) => void;
  /** Receives the name of a Namespace after its policy changed. The caches may not have its workloads yet. */
  readonly onNamespaceChange: (namespace: string) => void;
  /** Receives the key of a ConfigMap or Secret after its owners changed. Undefined: owners are not tracked. */
  readonly onOwnersChange?: ((configKey: string) => void) | undefined;
  /** Called after each list of a kind. An object that came and went while a watch was broken is no change. "": all namespaces. */
  readonly onListed?: (kind: string, namespace: string) => void;
  /** Returns since when a watch may miss changes, in monotonic milliseconds; undefined if no watch does. */
  readonly lostSince?: () => number | undefined;
  /** Returns one line for each watch that may be stale. */
  readonly silentWatches?: () => readonly string[];
  /** Returns numbers in [0, 1) for the delays between retries. Default Math.random. */
  readonly random?: () => number;
}
