import type { Lease } from "#kubernetes";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { getIfExists } from "../../kube/reads/get-if-exists.ts";
import { defaultLeaseDurationMs, holderOf } from "../../manager/leader-election/lease.ts";
import { tryRead } from "../cluster/requests/read-result.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import type { KnownPolicy } from "../cluster/running-wave/known-policy.ts";
import { type RunningWave, readRunningWaves, wavesWatching } from "../cluster/running-wave/running-wave.ts";
import type { Cluster } from "../command/cluster-command.ts";
import type { CommandCall } from "../command/flag-command.ts";
import type { inheritedFlags } from "../flags/inherited-flags.ts";
import { runFlags } from "../flags/run-flags.ts";
import type { ClusterHeader } from "./model.ts";

/** Who works in a cluster, and by which policy. */
export interface WaveStatus extends Pick<ClusterHeader, "leader" | "standbys" | "notifications" | "hold" | "notes"> {
  readonly policy: KnownPolicy;
  /** The namespaces of the Waves. A change there may change the policy. */
  readonly namespaces: ReadonlySet<string>;
  /** Equal if the policy is equal. */
  readonly policyVersion: string;
}

/** Reads the running Waves, their policy and their leader. Throws if the API server does not answer. */
export async function readWaveStatus<T extends typeof inheritedFlags>(
  cluster: Cluster,
  call: CommandCall<T>,
  namespace: string | undefined,
  now: number,
): Promise<WaveStatus> {
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

/** The lines of the header. */
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
