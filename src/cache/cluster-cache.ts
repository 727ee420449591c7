import type { NamesMatching } from "../domain/compatibility/settings.ts";
import { parseWorkloadKey, type Workload, type WorkloadRow, workloadKey } from "../domain/model/workload.ts";
import type { Lookup } from "../domain/plan/plan.ts";
import type { NamespacePolicy } from "../domain/policy/policy.ts";
import { type ConfigKind, parseConfigKey } from "../domain/references/references.ts";
import { runAll } from "../lib/run-all.ts";
import { cacheMetrics } from "./cache-metrics.ts";
import type { CachesOptions } from "./caches-options.ts";
import { configCaches } from "./configs/config-caches.ts";
import { OwnerIndex } from "./index/owner-index.ts";
import { notifyBeforeNext, PatternIndex } from "./index/pattern-index.ts";
import { ReferenceIndex } from "./index/reference-index.ts";
import { NamespaceCache } from "./namespaces/namespace-cache.ts";
import { NamespaceLists } from "./namespaces/namespace-lists.ts";
import { SyncedNamespaces } from "./namespaces/synced-namespaces.ts";
import type { CacheSource, ListListener, Watch } from "./store/kind-cache.ts";
import { NamespaceLimits } from "./store/namespace-limits.ts";
import { SyncGate } from "./store/sync-gate.ts";
import { ExtraKinds } from "./workloads/extra-kinds.ts";
import { workloadCaches } from "./workloads/workload-caches.ts";

/** What Wave knows of the cluster: every ConfigMap and Secret as digests, what SecretProviderClasses fetch, and the workloads that concern it. */
export interface Caches {
  /** Finds a ConfigMap or Secret. */
  readonly lookup: Lookup;
  /** Up to which resourceVersion everything is known that happened to a kind in a namespace. */
  readonly syncedUpTo: (kind: ConfigKind, namespace: string) => number;
  /**
   * The workload of a key as {@link workloadKey} makes it; undefined where it does not exist, does not concern Wave, or
   * where nothing may be decided about it: it or something that it reads is in a namespace that cannot be listed yet.
   */
  readonly workload: (key: string) => Workload | undefined;
  /** Every workload that concerns Wave and may be decided about, in no order that means anything. */
  readonly workloads: () => IteratorObject<Workload>;
  /** Those of one namespace. */
  readonly workloadsIn: (namespace: string) => IteratorObject<Workload>;
  /** The kinds of workload of which there are any to be held: the built-in ones, and what was found of those wanted besides. */
  readonly kinds: () => readonly WorkloadRow[];
  /** What a Namespace decides; undefined where none of this name is known. */
  readonly namespace: (name: string) => NamespacePolicy | undefined;
  /** The keys of the workloads that read an object, which need not exist; `configKey` makes its key. */
  readonly workloadsReading: (configKey: string) => Iterable<string>;
  /** What regular expressions name. */
  readonly namesMatching: NamesMatching;
  /** Who owns ConfigMaps and Secrets; undefined where nobody asked for it. */
  readonly owners: Pick<OwnerIndex, "of" | "keys" | "update"> | undefined;
  /**
   * Whether every kind was listed once, in each namespace that can be listed. Before that, what is missing here may exist
   * all the same: decide nothing.
   */
  readonly synced: boolean;
  /** Why it is not synced, in one line; undefined where it is. */
  readonly problem: () => string | undefined;
  /** What a person should know although it is synced: namespaces that cannot be listed, watches that are silent. */
  readonly notes: () => readonly string[];
  /** Resolves when `synced` is true; rejects with the signal's reason when it is aborted before. */
  readonly whenSynced: (signal: AbortSignal) => Promise<void>;
  /** Lists and watches until `signal` is aborted, then resolves; rejects when it cannot go on, which is a bug. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/**
 * The caches of all kinds, empty until they run. Workloads that have not opted in are left out, except those of which a
 * person should be told something and those whose Pods are still kept from being scheduled, by whatever is left of the
 * scheduling gate.
 */
export function cachesOver(source: CacheSource, options: CachesOptions): Caches {
  const { watch, list, readTemplate } = source;
  const { clock, log, metrics, random = Math.random } = options;
  const index = new ReferenceIndex();
  const allotments = new NamespaceLimits();
  const namespaces = new NamespaceCache({
    namespaces: options.namespaces,
    compatibility: options.compatibility,
    log,
    onOptInChange: (name) => lists.request(name),
    onChange: options.onNamespaceChange,
  });
  const patterns = new PatternIndex(function* (kind, namespace) {
    for (const { name } of configs[kind]?.valuesIn(namespace) ?? []) yield name;
  });
  const owners = options.onOwnersChange && new OwnerIndex(() => extra.rows(), options.onOwnersChange);
  const onConfigChange = notifyBeforeNext(patterns, options.onConfigChange);
  const configs = configCaches({ ...options, onConfigChange, owners }, allotments);
  const configKinds = Object.values(configs).filter((kind) => kind !== undefined);
  const { compatibility, providerClasses } = options;
  const asking = { namespacePolicyOf: (name: string) => namespaces.get(name), compatibility, providerClasses };
  const { caches: workloads, cacheOf } = workloadCaches(
    { ...options, random, asking, readTemplate },
    { index, patterns },
    allotments,
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
  const schedulingHold = new SyncGate();
  const served = new SyncedNamespaces(
    options.namespaces ?? [""],
    kinds.map(({ kind }) => kind),
  );
  cacheMetrics(
    metrics,
    () => [...kinds, ...extra.caches()],
    allotments,
    served,
    () => schedulingHold.isOpen,
  );

  const allWorkloads = () => workloads.values().flatMap((kind) => kind.values());

  const readsWhere = ({ namespace, references }: Workload, is: (namespace: string) => boolean) =>
    is(namespace) || (options.crossNamespace !== "none" && references.some((reference) => is(reference.namespace)));
  const mayDecide = (workload: Workload) =>
    served.allSynced || !readsWhere(workload, (each) => served.isUnsynced(each));

  /** What nobody could decide about until now is told like something new. */
  const announceServed = (namespace: string) => {
    log.info("everything of a namespace is known now", { namespace });
    for (const workload of allWorkloads()) {
      if (!readsWhere(workload, (each) => each === namespace) || !mayDecide(workload)) continue;
      options.onWorkloadChange({ key: workloadKey(workload), before: undefined, after: workload, initial: true });
    }
  };

  /** Whether a workload has opted in is not known before its Namespace is. */
  const afterNamespaces: Watch = async function* (what, signal) {
    await namespaces.whenListed(what.namespace ?? "", signal);
    yield* watch(what, signal);
  };

  async function run(signal: AbortSignal): Promise<void> {
    const from = clock.monotonic();
    const openSchedulingHold = () => {
      if (schedulingHold.isOpen || !served.isSettled) return;
      const counts = Object.fromEntries(kinds.map(({ kind, size }) => [kind, size]));
      log.info("caches synced", { ...counts, ms: Math.round(clock.monotonic() - from) });
      schedulingHold.open();
    };
    const listenerOf = (kind: string): ListListener => ({
      listed: (namespace) => {
        if (served.listed(namespace, kind) && schedulingHold.isOpen) announceServed(namespace);
        openSchedulingHold();
        options.onListed?.(kind, namespace);
      },
      failed: (namespace, why) => {
        served.failed(namespace, kind, why);
        openSchedulingHold();
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
    syncedUpTo: (kind, namespace) => configs[kind]?.syncedUpTo(namespace) ?? 0,
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
    workloadsReading: (key) => {
      const byName = index.workloadsOf(key);
      if (patterns.isEmpty) return byName;
      const { kind, namespace, name } = parseConfigKey(key);
      return new Set([...byName, ...patterns.workloadsOf(key, configs[kind]?.get(namespace, name) !== undefined)]);
    },
    namesMatching: patterns.namesMatching,
    owners,
    get synced() {
      return schedulingHold.isOpen;
    },
    problem: () => {
      if (schedulingHold.isOpen) return undefined;
      return ["not everything was listed yet", ...served.lines()].join("; ");
    },
    kinds: () => extra.rows(),
    notes: () => [
      ...(schedulingHold.isOpen ? served.lines() : []),
      ...extra.notes(),
      ...(options.silentWatches?.() ?? []),
    ],
    whenSynced: (signal) => schedulingHold.opened(signal),
    run,
  };
}
