import { objectsToRead } from "../../domain/config/cross-namespace.ts";
import { workloadKey } from "../../domain/model/workload.ts";
import { batchesNow } from "./batches-now.ts";
import { mapBounded } from "./map-bounded.ts";
import type { Cluster } from "./cluster-command.ts";
import type { WorkloadSnapshot } from "./explanation.ts";
import { type KnownPolicy, policyOf } from "./inherited-flags.ts";
import { verifyLegacyHash } from "./legacy-hash.ts";
import { type ReadPods, readPods } from "./pods.ts";
import { readManyConfigs } from "./read-configs.ts";
import { readNames, withMatches } from "./read-names.ts";
import { gapsOf, readNamespaces } from "./read-namespaces.ts";
import { listWorkloads } from "./read-workloads.ts";
import { readRefusedPods } from "./refused-pods.ts";

/** Workloads with all that their plans hang on. */
export interface WorkloadSnapshots {
  readonly asked: readonly WorkloadSnapshot[];
  /** Kinds of workloads that could not be listed, a line each. */
  readonly failures: readonly string[];
  /** What else could not be read and may matter, a line each. */
  readonly gaps: readonly string[];
}

/**
 * Reads the workloads that opted in of one namespace or of all, in lists alone however many they are. What cannot be read
 * is told; it does not keep the rest. Where labels are asked for, the others are read all the same: they may go first.
 */
export async function readWorkloadSnapshots(
  { client }: Cluster,
  namespace: string | undefined,
  labelSelector: string | undefined,
  flags: KnownPolicy,
): Promise<WorkloadSnapshots> {
  const namespaces = await readNamespaces(client, namespace, flags.compatibility);
  const asking = { ...flags, ofNamespace: namespaces.of };
  const all = listWorkloads(client, { namespace }, asking);
  const shown = labelSelector === undefined ? all : listWorkloads(client, { namespace, labelSelector }, asking);
  const [{ found: listed, failures }, asksFor] = await Promise.all([all, shown]);
  const names = await readNames(
    client,
    listed.map(({ workload }) => workload),
  );
  const policy = { ...asking, namesMatching: names.namesMatching };
  const found = listed.map((each) => ({
    ...each,
    workload: withMatches(each.workload, policy),
    unnamed: names.unreadFor(each.workload),
  }));
  const used = [...new Set(found.map(({ workload }) => workload.namespace))];
  const objects = found.flatMap(({ workload }) => objectsToRead(workload, policyOf(policy)));
  const [read, pods, refused] = await Promise.all([
    readManyConfigs(client, objects, policy.compatibility),
    mapBounded(used, async (each) => [each, await readPods(client, { namespace: each }, flags.kinds)] as const),
    readRefusedPods(client, found),
  ]);
  const podsOf = new Map<string, ReadPods>(pods);
  const now = Date.now();
  const { holdOf } = batchesNow({ found, read, policy, now });
  const keys = new Set(asksFor.found.map(({ workload }) => workloadKey(workload)));
  const asked = found.filter(({ workload }) => keys.has(workloadKey(workload)));
  const none: ReadPods = { state: "unread", why: "not asked for" };
  const told = await mapBounded(asked, (each) =>
    verifyLegacyHash(client, {
      found: each,
      unnamed: each.unnamed,
      read,
      policy,
      pods: podsOf.get(each.workload.namespace) ?? none,
      kubernetes: refused(each),
      now,
      batch: holdOf,
      others: [],
      gaps: [],
    }),
  );
  return {
    asked: told,
    failures: [...new Set([...failures, ...asksFor.failures])],
    gaps: [...gapsOf(namespaces), ...names.failures],
  };
}
