import type { KubeObject } from "../kube/api-types.ts";
import { type Resource, resources } from "../kube/resources.ts";
import type { Clock } from "../lib/clock.ts";
import { type Config, type ConfigObject, sameConfig, toConfig } from "../rollout/digest.ts";
import type { Lookup } from "../rollout/plan.ts";
import { type ConfigKind, configKey } from "../rollout/references.ts";
import {
  parseWorkloadKey,
  sameWorkload,
  toWorkload,
  type Workload,
  type WorkloadKind,
  type WorkloadObject,
} from "../rollout/workload.ts";
import type { Logger } from "../telemetry/log.ts";
import type { MetricsRegistry } from "../telemetry/metrics.ts";
import { KindCache, type Watch } from "./kind-cache.ts";
import { ReferenceIndex } from "./reference-index.ts";
import { SharedStrings } from "./shared-strings.ts";
import type { StoreChange } from "./store.ts";
import { SyncGate } from "./sync-gate.ts";

/** What Wave knows of the cluster: every ConfigMap and Secret as digests, and the workloads that concern it. */
export interface Caches {
  /** Finds a ConfigMap or Secret. */
  readonly lookup: Lookup;
  /** The workload of a key as {@link workloadKey} makes it; undefined where it does not exist or does not concern Wave. */
  readonly workload: (key: string) => Workload | undefined;
  /** Every workload that concerns Wave, in no order that means anything. */
  readonly workloads: () => IteratorObject<Workload>;
  /** The keys of the workloads that read an object, which need not exist; `configKey` makes its key. */
  readonly workloadsReading: (configKey: string) => Iterable<string>;
  /** Whether every kind was listed once. Before that, what is missing here may exist all the same: decide nothing. */
  readonly synced: boolean;
  /** Resolves when `synced` is true; rejects with the signal's reason when it is aborted before. */
  readonly whenSynced: (signal: AbortSignal) => Promise<void>;
  /** Lists and watches until `signal` is aborted, then resolves; rejects when it cannot go on, which is a bug. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** What caches are made from, besides their connection to the API server. */
export interface CachesOptions {
  /** Undefined for all. */
  readonly namespaces: readonly string[] | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Told after the caches and {@link Caches.workloadsReading} hold the change. */
  readonly onWorkloadChange: (change: StoreChange<Workload>) => void;
  /** Told after the caches hold the change. */
  readonly onConfigChange: (change: StoreChange<Config>) => void;
}

/** Helm keeps every release as a Secret, up to 1 MiB each; no Pod reads them, so they never leave the server. */
const withoutHelmReleases = "type!=helm.sh/release.v1";

/**
 * The caches of all kinds, empty until they run. Workloads that have not opted in are left out, except those of which a
 * person should be told something and those whose Pods are still kept from being scheduled.
 */
export function cachesOver(watch: Watch, options: CachesOptions): Caches {
  const { clock, log, metrics } = options;
  const index = new ReferenceIndex();
  const configs = configCaches(options);
  const workloads = workloadCaches(options, index);
  const kinds = [...Object.values(configs), ...Object.values(workloads)];
  const gate = new SyncGate();
  countObjects(metrics, kinds);

  async function run(signal: AbortSignal): Promise<void> {
    const from = clock.monotonic();
    const onSynced = () => {
      if (gate.isOpen || !kinds.every(({ synced }) => synced)) return;
      const counts = Object.fromEntries(kinds.map(({ kind, size }) => [kind, size]));
      log.info("caches synced", { ...counts, ms: Math.round(clock.monotonic() - from) });
      gate.open();
    };
    await runAll(signal, (each) => kinds.flatMap((kind) => kind.run(watch, each, onSynced)));
  }

  return {
    lookup: (kind, namespace, name) => configs[kind].get(namespace, name),
    workload: (key) => {
      const { kind, namespace, name } = parseWorkloadKey(key);
      return workloads[kind].get(namespace, name);
    },
    workloads: () =>
      Object.values(workloads)
        .values()
        .flatMap((kind) => kind.values()),
    workloadsReading: (key) => index.workloadsOf(key),
    get synced() {
      return gate.isOpen;
    },
    whenSynced: (signal) => gate.opened(signal),
    run,
  };
}

type ConfigCache = KindCache<KubeObject & ConfigObject, Config>;
type WorkloadCache = KindCache<KubeObject & WorkloadObject, Workload>;

function configCaches(options: CachesOptions): Readonly<Record<ConfigKind, ConfigCache>> {
  const { namespaces, log, onConfigChange } = options;
  const shared = new SharedStrings();
  const cache = (kind: ConfigKind, resource: Resource, selector: { fieldSelector?: string } = {}): ConfigCache =>
    new KindCache({
      resource,
      ...selector,
      namespaces,
      transform: (object) => {
        const config = toConfig(kind, object);
        return { ...config, namespace: shared.string(config.namespace), keys: shared.list(config.keys) };
      },
      same: sameConfig,
      onChange: onConfigChange,
      log,
    });
  return {
    ConfigMap: cache("ConfigMap", resources.configMaps),
    Secret: cache("Secret", resources.secrets, { fieldSelector: withoutHelmReleases }),
  };
}

function workloadCaches(options: CachesOptions, index: ReferenceIndex): Readonly<Record<WorkloadKind, WorkloadCache>> {
  const { namespaces, log, onWorkloadChange } = options;
  const onChange = (change: StoreChange<Workload>) => {
    index.set(change.key, change.after?.references.map(configKey) ?? []);
    onWorkloadChange(change);
  };
  const cache = (kind: WorkloadKind, resource: Resource): WorkloadCache =>
    new KindCache({
      resource,
      namespaces,
      transform: (object) => {
        const workload = toWorkload(kind, object);
        return concernsWave(workload) ? workload : undefined;
      },
      same: sameWorkload,
      onChange,
      log,
    });
  return {
    Deployment: cache("Deployment", resources.deployments),
    StatefulSet: cache("StatefulSet", resources.statefulSets),
    DaemonSet: cache("DaemonSet", resources.daemonSets),
  };
}

function concernsWave({ optIn, disabledScheduler, mistakes }: Workload): boolean {
  return optIn.state !== "out" || disabledScheduler !== undefined || mistakes.length > 0;
}

function countObjects(
  metrics: MetricsRegistry,
  kinds: readonly { readonly kind: string; readonly size: number }[],
): void {
  const gauge = metrics.gauge("wave_cache_objects", "Objects that the caches hold.", ["kind"]);
  gauge.collect(() => {
    for (const { kind, size } of kinds) gauge.set(size, { kind });
  });
}

/** Runs all until the signal ends them; when one fails, ends the others and fails with it. */
async function runAll(signal: AbortSignal, start: (signal: AbortSignal) => readonly Promise<void>[]): Promise<void> {
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const runs = start(both).map((run) =>
    run.catch((error: unknown) => {
      if (!both.aborted) failed.abort(error);
    }),
  );
  await Promise.all(runs);
  failed.signal.throwIfAborted();
}
