import { configKey, type StoredName } from "../../../domain/references/references.ts";
import { isForbidden } from "../../../kube/api/errors.ts";
import { errorText } from "../../../telemetry/logging/error-text.ts";
import type { Cluster } from "../../command/cluster-command.ts";
import { type ReadConfig, readConfigs } from "../read/configs.ts";
import { type FoundWorkload, listWorkloads } from "../read/workloads.ts";
import type { KnownPolicy } from "../running-wave/known-policy.ts";
import { readWorkloadSnapshots, type WorkloadSnapshots } from "./read-many.ts";
import type { WorkloadSnapshot } from "./workload-snapshot.ts";

/** A ConfigMap or Secret, and the workloads that may read it. */
export interface ObjectFacts {
  readonly object: StoredName;
  /** The object when it was read; undefined if the read did not return it. */
  readonly found: ReadConfig | undefined;
  /** The workloads that opted in. */
  readonly snapshots: readonly WorkloadSnapshot[];
  /** The other workloads. */
  readonly others: readonly FoundWorkload[];
  readonly policy: KnownPolicy;
  /** The reads that failed, one line each. */
  readonly unread: readonly string[];
}

/**
 * Reads a ConfigMap or Secret and the workloads of its namespace, or of all namespaces if workloads of others may read it. Throws the error
 * of the API server if no workload can be listed.
 */
export async function readObjectFacts(cluster: Cluster, object: StoredName, flags: KnownPolicy): Promise<ObjectFacts> {
  const { client } = cluster;
  const found = (await readConfigs(client, [object], flags.compatibility)).get(configKey(object));
  const namespace = isReadElsewhere(found, flags) ? undefined : object.namespace;
  const { snapshots, failures, gaps } = await readSnapshots(cluster, namespace, object, flags);
  // The annotations of Namespaces decide who opted in. Without a snapshot, nobody did.
  const policy = snapshots[0]?.policy ?? flags;
  const isOut = ({ optIn }: FoundWorkload["workload"]) => optIn.state === "out";
  const others = await listWorkloads(client, { namespace: object.namespace }, policy, isOut);
  return { object, found, snapshots, others: others.found, policy, unread: [...failures, ...gaps] };
}

/** Reports whether workloads of other namespaces may read the object. */
function isReadElsewhere(found: ReadConfig | undefined, { crossNamespace }: KnownPolicy): boolean {
  if (crossNamespace === "none") return false;
  return crossNamespace === "any" || (found?.state === "present" && found.config.sharedWith !== undefined);
}

/** Reads the workloads of the namespace alone if the user may not list those of all namespaces. */
async function readSnapshots(
  cluster: Cluster,
  namespace: string | undefined,
  object: StoredName,
  flags: KnownPolicy,
): Promise<WorkloadSnapshots> {
  try {
    return await readWorkloadSnapshots(cluster, namespace, undefined, flags);
  } catch (error) {
    if (namespace !== undefined || !isForbidden(error)) throw error;
    const own = await readWorkloadSnapshots(cluster, object.namespace, undefined, flags);
    return {
      ...own,
      gaps: [...own.gaps, `Workloads of other namespaces may read it, and are unknown: ${errorText(error)}`],
    };
  }
}
