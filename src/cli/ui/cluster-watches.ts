import type { WorkloadRow } from "../../domain/model/workload.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { type Resource, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";

/** The input of {@link watchCluster}. */
interface ClusterWatchOptions {
  readonly client: ApiClient;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** The kinds of workloads. */
  readonly kinds: readonly WorkloadRow[];
  /** Called for each change: the namespace and the object, or undefined if changes may have been missed. */
  readonly onChange: (
    changed: { readonly namespace: string; readonly plural: string; readonly name: string } | undefined,
  ) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Watches of everything that rows depend on. */
export interface ClusterWatches {
  /** Resolves when each watch is synced or has failed, at the latest after this time in milliseconds. */
  readonly settled: (limitMs: number) => Promise<void>;
  /** Returns the namespaces that had workloads when the watches began, opted in or not; undefined if they are not known. */
  readonly namespaces: () => ReadonlySet<string> | undefined;
  /** Reports whether each watch works now. Otherwise changes show only when everything is read again. */
  readonly areComplete: () => boolean;
}

/**
 * Watches the metadata of everything that rows depend on, and keeps none of it. The values of ConfigMaps and Secrets do not reach this
 * process by a watch. A watch without permission is tried again now and then.
 */
export function watchCluster(options: ClusterWatchOptions): ClusterWatches {
  const { namespace, kinds, clock, signal } = options;
  const namespaces = new Set<string>();
  const add = (listed: string | undefined) => void (listed !== undefined && namespaces.add(listed));
  // Changes before the end of the first lists are no events. The first reading comes after the lists, or sees them.
  let isSettled = false;
  const onSynced = () => {
    if (isSettled) options.onChange(undefined);
  };
  const shared = { ...options, onSynced };
  const workloads = kinds.map((resource) => watchResource({ ...shared, resource, namespace, onListed: add }));
  const watches = [
    ...workloads,
    ...[resources.configMaps, resources.secrets, resources.pods].map((resource) =>
      watchResource({ ...shared, resource, namespace }),
    ),
    watchResource({
      ...shared,
      resource: resources.namespaces,
      namespace: undefined,
      ...(namespace !== undefined && { fieldSelector: `metadata.name=${namespace}` }),
    }),
  ];
  return {
    settled: async (limitMs) => {
      const limit = new AbortController();
      const first = Promise.all(watches.map(({ tried }) => tried)).finally(() => limit.abort());
      const either = AbortSignal.any([signal, limit.signal]);
      await Promise.race([first, sleep(clock, limitMs, either).catch(() => {})]);
      limit.abort();
      isSettled = true;
    },
    namespaces: () => (workloads.every(({ isSynced }) => isSynced()) ? namespaces : undefined),
    areComplete: () => watches.every(({ isSynced }) => isSynced()),
  };
}

interface ResourceWatch {
  /** Resolves when the watch is synced or has failed. Never rejects. */
  readonly tried: Promise<void>;
  readonly isSynced: () => boolean;
}

function watchResource({
  client,
  resource,
  namespace,
  fieldSelector,
  onListed,
  onSynced,
  onChange,
  clock,
  signal,
}: ClusterWatchOptions & {
  readonly resource: Resource;
  readonly fieldSelector?: string;
  /** Called with the namespace of each object that exists when the watch begins. */
  readonly onListed?: (namespace: string | undefined) => void;
  readonly onSynced: () => void;
}): ResourceWatch {
  const { promise: tried, resolve } = Promise.withResolvers<void>();
  let isSynced = false;
  let wasTried = false;
  const follow = async () => {
    const watch = {
      ...{ client, resource, namespace, fieldSelector, clock, signal },
      metadataOnly: true,
      log: silentLogger,
      metrics: new MetricsRegistry(),
    };
    for await (const event of listWatch<KubeObject>(watch)) {
      switch (event.type) {
        case "init":
        case "initFailed":
          isSynced = false;
          if (event.type === "init") break;
          wasTried = true;
          resolve();
          break;
        case "initApply":
          if (!wasTried) onListed?.(event.object.metadata.namespace);
          break;
        case "initDone":
          isSynced = true;
          wasTried = true;
          onSynced();
          resolve();
          break;
        case "apply":
        case "delete": {
          const { namespace: own, name } = event.object.metadata;
          onChange({ namespace: own ?? name, plural: resource.plural, name });
        }
      }
    }
  };
  void follow();
  return { tried, isSynced: () => isSynced };
}
