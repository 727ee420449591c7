import type { NamesMatching } from "../domain/compatibility/directive.ts";
import type { Config } from "../domain/config/digest.ts";
import type { Lookup } from "../domain/config/view-of-references.ts";
import type { WorkloadKind, WorkloadRow } from "../domain/model/kind-row.ts";
import type { RequestedKind } from "../domain/model/kinds/requested-kind.ts";
import { parseWorkloadKey, type Workload, workloadKey } from "../domain/model/workload-shape.ts";
import type { AbsentSince } from "../domain/pacing/moment.ts";
import type { CopySize } from "../domain/pinning/collect.ts";
import type { ClusterHold, NamespacePolicy, Policy } from "../domain/policy/policy.ts";
import {
  type ConfigKind,
  configKey,
  parseConfigKey,
  type StoredKind,
  type StoredName,
} from "../domain/references/references.ts";
import { runAll } from "../lib/run-all.ts";
import type { ProcessContext } from "../telemetry/process-context.ts";
import { cacheMetrics } from "./cache-metrics.ts";
import { Absences, configCaches } from "./configs/config-caches.ts";
import { OwnerIndex } from "./index/owner-index.ts";
import { notifyBeforeNext, PatternIndex, ReferenceIndex } from "./index/reference-index.ts";
import { NamespaceCache } from "./namespaces/namespace-cache.ts";
import { NamespaceLists, SyncedNamespaces } from "./namespaces/synced-namespaces.ts";
import type { CacheSource, ListListener, Watch } from "./store/kind-cache.ts";
import { cacheBytesFor, NamespaceLimits } from "./store/namespace-limits.ts";
import { SyncGate } from "./store/reflector.ts";
import type { StoreChange } from "./store/store.ts";
import { ExtraKinds } from "./workloads/extra-kinds.ts";
import { workloadCaches } from "./workloads/workload-caches.ts";

/** The cached state of the cluster: digests of ConfigMaps and Secrets, SecretProviderClasses, and relevant workloads. */
export interface Caches {
  /** Finds a ConfigMap or Secret. */
  readonly lookup: Lookup;
  /** Returns the pinned copies of a namespace with their sizes. Reads all ConfigMaps of the namespace. */
  readonly copiesIn: (namespace: string) => readonly CopySize[];
  /** Returns the resourceVersion up to which a kind in a namespace is synced. */
  readonly syncedUpTo: (kind: ConfigKind, namespace: string) => number;
  /** See {@link AbsentSince}. */
  readonly absentSince: AbsentSince;
  /** Records that a live read found an object. If the caches do not hold it, they are behind: it may be gone again before they receive it. */
  readonly found: (object: StoredName) => void;
  /** Returns the resourceVersion up to which the workloads of a kind in a namespace are synced. */
  readonly workloadsSyncedUpTo: (kind: WorkloadKind, namespace: string) => number;
  /** Returns how many objects of a kind the caches hold, in a namespace or in all. */
  readonly countIn: (kind: StoredKind, namespace?: string) => number;
  /**
   * Returns the workload of a {@link workloadKey}. Returns undefined if the workload does not exist or is not relevant, or if
   * it, or an object that it reads, is in an unsynced namespace. Nothing may be decided about such a workload.
   */
  readonly workload: (key: string) => Workload | undefined;
  /** Returns all relevant workloads of synced namespaces, in no particular order. */
  readonly workloads: () => IteratorObject<Workload>;
  /** Returns the same for one namespace. */
  readonly workloadsIn: (namespace: string) => IteratorObject<Workload>;
  /** Returns the available kinds of workload: the built-in ones and the requested ones that the API server serves. */
  readonly kinds: () => readonly WorkloadRow[];
  /** Returns the policy of a Namespace; undefined if the Namespace is unknown. */
  readonly namespace: (name: string) => NamespacePolicy | undefined;
  /** The hold of every rollout; undefined: there is none. */
  readonly clusterHold: ClusterHold | undefined;
  /** Returns the keys of the workloads that read an object. The object need not exist. See `configKey`. */
  readonly workloadsReading: (configKey: string) => Iterable<string>;
  /** Returns the objects that regular expressions match. */
  readonly namesMatching: NamesMatching;
  /** Owners of ConfigMaps and Secrets; undefined if they are not tracked. */
  readonly owners: Pick<OwnerIndex, "of" | "keys" | "update"> | undefined;
  /**
   * Reports whether every kind was listed once in each namespace that can be listed. Before that, decide nothing: an object that
   * is missing here may exist.
   */
  readonly synced: boolean;
  /** Returns the namespaces of workloads about which nothing may be decided, because a namespace is unsynced. */
  readonly undecided: () => Iterable<string>;
  /** Returns since when a watch may miss changes, in monotonic milliseconds; undefined if no watch does. */
  readonly lostSince: () => number | undefined;
  /** Returns in one line why the caches are not synced; undefined if they are. */
  readonly problem: () => string | undefined;
  /** Returns problems that do not prevent the sync: namespaces that cannot be listed and silent watches. */
  readonly notes: () => readonly string[];
  /** Resolves when `synced` is true. Rejects with the reason of the signal if it is aborted first. */
  readonly whenSynced: (signal: AbortSignal) => Promise<void>;
  /** Lists and watches until `signal` is aborted, then resolves. Rejects only for a bug. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * Creates the caches of all kinds, empty until they run. Workloads that have not opted in are left out, except those that a
 * person must get a warning about, and those whose Pods a scheduling hold keeps pending.
 */
export function cachesOver(source: CacheSource, options: CachesOptions): Caches {
  const { watch, list, readTemplate } = source;
  const { clock, log, metrics, random = Math.random } = options;
  const index = new ReferenceIndex();
  const namespaceLimits = new NamespaceLimits(cacheBytesFor(options.memoryLimit));
  const namespaces = new NamespaceCache({
    namespaces: options.namespaces,
    own: options.ownNamespace,
    compatibility: options.compatibility,
    log,
    onOptInChange: (name) => lists.request(name),
    onChange: options.onNamespaceChange,
  });
  const patterns = new PatternIndex(function* (kind, namespace) {
    for (const { name } of configs[kind]?.valuesIn(namespace) ?? []) yield name;
  });
  const owners = options.onOwnersChange && new OwnerIndex(() => extra.rows(), options.onOwnersChange);
  const absences = new Absences(clock);
  const onConfigChange = notifyBeforeNext(patterns, (change) => {
    if (change.after === undefined) absences.removed(change.key);
    options.onConfigChange(change);
  });
  const configs = configCaches({ ...options, onConfigChange, absences, owners }, namespaceLimits);
  const configKinds = Object.values(configs).filter((kind) => kind !== undefined);
  const { compatibility, providerClasses } = options;
  const directiveContext = {
    namespacePolicyOf: (name: string) => namespaces.get(name),
    compatibility,
    providerClasses,
  };
  const { caches: workloads, cacheOf } = workloadCaches(
    { ...options, random, directiveContext, readTemplate },
    { index, patterns },
    namespaceLimits,
  );
  const builtIn = [...workloads.values()];
  const lists = new NamespaceLists({
    lists: function* () {
      for (const kind of builtIn) yield (namespace, signal) => kind.relist(namespace, list, signal);
      yield (namespace, signal) => extra.relist(namespace, list, signal);
    },
    clock,
    log,
    random,
  });
  const extra = new ExtraKinds({ ...options, random, source, caches: workloads, cacheOf });
  const kinds = [namespaces, ...configKinds, ...builtIn];
  const syncGate = new SyncGate();
  const syncedNamespaces = new SyncedNamespaces(
    options.namespaces ?? [""],
    kinds.map(({ kind }) => kind),
  );
  cacheMetrics(
    metrics,
    () => [...kinds, ...extra.caches()],
    namespaceLimits,
    syncedNamespaces,
    () => syncGate.isOpen,
    () => namespaces.clusterHold !== undefined,
  );

  const allWorkloads = () => workloads.values().flatMap((kind) => kind.values());

  const readsNamespace = ({ namespace, references }: Workload, is: (namespace: string) => boolean) =>
    is(namespace) || (options.crossNamespace !== "none" && references.some((reference) => is(reference.namespace)));
  const mayDecide = (workload: Workload) =>
    syncedNamespaces.allSynced || !readsNamespace(workload, (each) => syncedNamespaces.isUnsynced(each));

  /** Announces the workloads that depend on a namespace as new after it is synced: until now nothing was decided about them. */
  const announceSynced = (namespace: string) => {
    log.info("namespace synced", { namespace });
    for (const workload of allWorkloads()) {
      if (!readsNamespace(workload, (each) => each === namespace) || !mayDecide(workload)) continue;
      options.onWorkloadChange({ key: workloadKey(workload), before: undefined, after: workload, initial: true });
    }
  };

  /** Waits for the Namespaces, because they affect whether a workload has opted in. */
  const afterNamespaces: Watch = async function* (what, signal) {
    await namespaces.whenListed(what.namespace ?? "", signal);
    yield* watch(what, signal);
  };

  async function run(signal: AbortSignal): Promise<void> {
    const from = clock.monotonic();
    const openSyncGate = () => {
      if (syncGate.isOpen || !syncedNamespaces.isSettled || !namespaces.isOwnListed) return;
      const counts = Object.fromEntries(kinds.map(({ kind, size }) => [kind, size]));
      log.info("caches synced", { ...counts, ms: Math.round(clock.monotonic() - from) });
      syncGate.open();
    };
    const listenerOf = (kind: string): ListListener => ({
      listed: (namespace) => {
        absences.listed(kind, namespace);
        if (syncedNamespaces.listed(namespace, kind) && syncGate.isOpen) announceSynced(namespace);
        openSyncGate();
        options.onListed?.(kind, namespace);
      },
      failed: (namespace, why) => {
        syncedNamespaces.failed(namespace, kind, why);
        openSyncGate();
      },
    });
    await runAll(signal, (each) => [
      ...[namespaces, ...configKinds].flatMap((kind) => kind.run(watch, each, listenerOf(kind.kind))),
      ...builtIn.flatMap((kind) => kind.run(afterNamespaces, each, listenerOf(kind.kind))),
      extra.run(afterNamespaces, each),
      lists.run(each),
    ]);
  }

  return {
    lookup: (kind, namespace, name) => configs[kind]?.get(namespace, name),
    copiesIn: (namespace) => {
      const copies: CopySize[] = [];
      for (const { name, copyBytes: bytes } of configs.ConfigMap?.valuesIn(namespace) ?? [])
        if (bytes !== undefined) copies.push({ name, bytes });
      return copies;
    },
    syncedUpTo: (kind, namespace) => configs[kind]?.syncedUpTo(namespace) ?? 0,
    absentSince: (object) => {
      const { kind, namespace, name } = object;
      // A live read may be newer than the caches, and a watch may have missed that the object came and went.
      if (configs[kind]?.get(namespace, name) !== undefined || options.lostSince?.() !== undefined) return undefined;
      return absences.since(object);
    },
    found: ({ kind, namespace, name }) => {
      if (configs[kind].get(namespace, name) === undefined) absences.found(configKey({ kind, namespace, name }));
    },
    workloadsSyncedUpTo: (kind, namespace) => workloads.get(kind)?.syncedUpTo(namespace) ?? 0,
    countIn: (kind, namespace) => (namespace === undefined ? configs[kind].size : configs[kind].countIn(namespace)),
    workload: (key) => {
      const { kind, namespace, name } = parseWorkloadKey(key);
      const workload = workloads.get(kind)?.get(namespace, name);
      return workload !== undefined && mayDecide(workload) ? workload : undefined;
    },
    workloads: () => allWorkloads().filter(mayDecide),
    workloadsIn: (namespace) =>
      workloads
        .values()
        .flatMap((kind) => kind.valuesIn(namespace))
        .filter(mayDecide),
    namespace: (name) => namespaces.get(name),
    get clusterHold() {
      return namespaces.clusterHold;
    },
    workloadsReading: (key) => {
      const byName = index.workloadsOf(key);
      if (patterns.isEmpty) return byName;
      const { kind, namespace, name } = parseConfigKey(key);
      return new Set([...byName, ...patterns.workloadsOf(key, configs[kind]?.get(namespace, name) !== undefined)]);
    },
    namesMatching: patterns.namesMatching,
    owners,
    get synced() {
      return syncGate.isOpen;
    },
    problem: () => {
      if (syncGate.isOpen) return undefined;
      return ["the caches are not synced", ...syncedNamespaces.lines(), ...namespaces.ownProblem()].join("; ");
    },
    undecided: () => {
      if (syncedNamespaces.allSynced) return [];
      const waiting = allWorkloads().filter((workload) => !mayDecide(workload));
      return new Set([...syncedNamespaces.unsynced(), ...waiting.map(({ namespace }) => namespace)]);
    },
    lostSince: () => options.lostSince?.(),
    kinds: () => extra.rows(),
    notes: () => [
      ...(syncGate.isOpen ? syncedNamespaces.lines() : []),
      ...extra.notes(),
      ...(options.silentWatches?.() ?? []),
    ],
    whenSynced: (signal) => syncGate.opened(signal),
    run,
  };
}

/** Options of the caches, without the connection to the API server. */
export interface CachesOptions
  extends Pick<Policy, "namespaces" | "compatibility" | "providerClasses">,
    Pick<ProcessContext, "clock" | "log" | "metrics"> {
  /** The Namespace in which Wave runs. Its annotation may hold every rollout. Undefined outside a cluster. */
  readonly ownNamespace?: string | undefined;
  /** Policy for references into other namespaces. With "none", no workload waits for another namespace. Default: not "none". */
  readonly crossNamespace?: Policy["crossNamespace"] | undefined;
  /** Kinds of workload in addition to the built-in ones. Each is used while the API server serves it. */
  readonly workloadKinds?: readonly RequestedKind[] | undefined;
  /** The memory limit of the process, in bytes. Default: none. */
  readonly memoryLimit?: number | undefined;
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
