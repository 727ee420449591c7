import type { Lease } from "#kubernetes";
import type { WorkloadRow } from "../../domain/model/kind-row.ts";
import { type KubeObject, type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import { getIfExists } from "../../kube/reads/reads.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import { defaultLeaseDurationMs, holderOf } from "../../manager/leader-election/lease.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { tryRead } from "../cluster/requests.ts";
import { type KnownPolicy, readRunningPolicy } from "../cluster/running-wave/known-policy.ts";
import { type RunningWave, readRunningWaves, wavesWatching } from "../cluster/running-wave/running-wave.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { runFlags } from "../flags/run-flags.ts";
import type { ClusterHeader } from "./model.ts";
import type { UiCall } from "./ui-flags.ts";

/** The input of {@link watchCluster}. */
interface ClusterWatchOptions {
  readonly client: ApiClient;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
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
  /** Returns the namespaces that had workloads in a list of a watch, opted in or not; undefined if they are not known. */
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
      const limit = sleep(clock, limitMs, signal).catch(() => {});
      await Promise.race([limit, Promise.all(watches.map(({ tried }) => tried))]);
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
  /** Called with the namespace of each object of each list. */
  readonly onListed?: (namespace: string | undefined) => void;
  readonly onSynced: () => void;
}): ResourceWatch {
  const { promise: tried, resolve } = Promise.withResolvers<void>();
  let isSynced = false;
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
          isSynced = false;
          break;
        case "initFailed":
          isSynced = false;
          resolve();
          break;
        case "initApply":
          onListed?.(event.object.metadata.namespace);
          break;
        case "initDone":
          isSynced = true;
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

/** Who works in a cluster, and by which policy. */
export interface WaveStatus extends Pick<ClusterHeader, "leader" | "standbys" | "notifications" | "hold" | "notes"> {
  readonly policy: KnownPolicy;
  /** The namespaces of the Waves. A change there may change the policy. */
  readonly namespaces: ReadonlySet<string>;
  /** Equal if the policy is equal. */
  readonly policyVersion: string;
}

/** Reads the running Waves, their policy and their leader. Throws if the API server does not answer. */
export async function readWaveStatus(cluster: Cluster, call: UiCall, now: number): Promise<WaveStatus> {
  const { namespace } = call.values;
  const notes: string[] = [];
  const terminal = { ...call.terminal, writeError: (line: string) => void notes.push(noteOf(line)) };
  const waves = await readRunningWaves(cluster.client);
  const policy = await readRunningPolicy(cluster, { ...call, terminal }, namespace, waves);
  const watching = "unread" in waves ? [] : wavesWatching(waves, namespace);
  if ("unread" in waves) notes.push(statusTexts.unknownFlags(waves.unread));
  const [wave] = watching;
  const lease = await readLease(cluster, wave);
  if ("unread" in lease) notes.push(statusTexts.unknownLeader(lease.unread));
  const leader = "unread" in lease ? null : leaderOf(lease.read, now);
  const ready = wave?.object.status?.readyReplicas ?? 0;
  return {
    policy,
    leader,
    standbys: Math.max(0, ready - 1),
    notifications:
      "unread" in waves ? "unknown" : watching.some(({ values }) => values.notify) ? "configured" : "absent",
    hold: policy.clusterHold === undefined ? null : policy.clusterHold.reason || statusTexts.held,
    notes,
    namespaces: new Set(watching.map((each) => each.namespace)),
    policyVersion: JSON.stringify([
      watching.map(({ object }) => [object.metadata.uid, object.metadata.generation, object.status?.readyReplicas]),
      policy.clusterHold,
      policy.keys.state === "read" ? policy.keys.keys.current.id : policy.keys.state,
      policy.kinds.map(({ id, apiVersion }) => [id, apiVersion]),
    ]),
  };
}

const statusTexts = {
  unknownFlags: (why: string) => `Cannot read the flags of the running Wave: ${why}. Using the defaults.`,
  unknownLeader: (why: string) => `The leader is unknown: ${why}.`,
  held: "without a reason",
} as const;

/** Returns a line of standard error without its beginning. */
function noteOf(line: string): string {
  return line.replace(/^(?:warning|note): /, "").trim();
}

/** Reads the Lease of a Wave. A Wave outside the cluster has no Deployment, and may have its Lease in the namespace of the context. */
function readLease(cluster: Cluster, wave: RunningWave | undefined) {
  const namespace = wave?.values["leader-election-namespace"] ?? wave?.namespace ?? cluster.namespace;
  const name = wave?.values["leader-election-id"] ?? runFlags["leader-election-id"].default;
  const path = resourcePath(resources.leases, { namespace, name });
  return tryRead(`get leases/${name} in ${namespace}`, () => getIfExists<Lease>(cluster.client, { path }));
}

function leaderOf(lease: Lease | undefined, now: number): ClusterHeader["leader"] {
  const identity = holderOf(lease);
  if (identity === "") return null;
  const { renewTime, leaseDurationSeconds = defaultLeaseDurationMs / 1_000 } = lease?.spec ?? {};
  const renewedAt = Date.parse(renewTime ?? "") || 0;
  return { identity, renewedAt, isFresh: Math.abs(now - renewedAt) < leaseDurationSeconds * 1_000 };
}
