import type { CompatibilitySettings } from "../domain/compatibility/settings.ts";
import type { Config } from "../domain/config/digest.ts";
import type { RequestedKind } from "../domain/model/kinds/requested-kind.ts";
import type { Workload } from "../domain/model/workload.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/logging/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import type { StoreChange } from "./store/store.ts";

/** What caches are made from, besides their connection to the API server. */
export interface CachesOptions {
  /** Undefined for all. */
  readonly namespaces: readonly string[] | undefined;
  /** Which references into other namespaces count. "none": what such a namespace has is waited for by nobody elsewhere. Default: some. */
  readonly crossNamespace?: Policy["crossNamespace"] | undefined;
  /** Whose annotations are understood; undefined: Wave's alone. */
  readonly compatibility?: CompatibilitySettings | undefined;
  /** Kinds of workload besides the built-in ones, wherever they are there. */
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
  /** Whether what SecretProviderClasses fetch is known, and their volumes count. Default: no. */
  readonly providerClasses?: boolean | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Told after the caches hold the change, and who reads what. */
  readonly onWorkloadChange: (change: StoreChange<Workload>) => void;
  /** Told after the caches hold the change. */
  readonly onConfigChange: (change: StoreChange<Config>) => void;
  /** Told after the caches hold that a Namespace decides something else; and it may be that its workloads have not. */
  readonly onNamespaceChange: (namespace: string) => void;
  /** Told the key of a ConfigMap or Secret whose owners are others by now; undefined: nobody asks for owners. */
  readonly onOwnersChange?: ((configKey: string) => void) | undefined;
  /** Told when a kind was listed, again too: what came and went since its watch broke is no change. "" is all namespaces. */
  readonly onListed?: (kind: string, namespace: string) => void;
  /** One line for each watch that may be behind. */
  readonly silentWatches?: () => readonly string[];
  /** Numbers in [0, 1), for the delays between tries. Default Math.random. */
  readonly random?: () => number;
}
