import { explainWorkload, noteOfFlags } from "../cluster/explanation/explanation.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { type ChangeNow, changesNow } from "../cluster/snapshot/changes-now.ts";
import { readWorkloadSnapshots } from "../cluster/snapshot/read-many.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { appendCluster } from "../command/command-failure.ts";
import { noteLine, warningLine } from "../command/messages.ts";
import { byObjectName } from "../command/named-object.ts";
import type { ListCall } from "./list-flags.ts";
import { type ListedWorkload, listedWorkload } from "./list-output.ts";

/** The workloads of one cluster that opted in, in every state, sorted by their names. */
interface ReadList {
  readonly workloads: readonly ListedWorkload[];
  /** The changes that workloads roll or wait for now. */
  readonly changes: readonly ChangeNow[];
  /** Whether everything that the list depends on could be listed. */
  readonly complete: boolean;
}

/** Returns the namespace that a call lists in a cluster; undefined for all namespaces. */
export function listedNamespace({ values }: ListCall, cluster: Cluster): string | undefined {
  return values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
}

/**
 * Reads the workloads of one cluster. Writes one warning to the terminal of the call for each read that failed. Throws what
 * {@link readWorkloadSnapshots} throws if nothing can be listed.
 */
export async function readList(call: ListCall, cluster: Cluster): Promise<ReadList> {
  const namespace = listedNamespace(call, cluster);
  const policy = await readRunningPolicy(cluster, call, namespace);
  const { selector } = call.values;
  const { snapshots, failures, gaps, batches } = await readWorkloadSnapshots(cluster, namespace, selector, policy);
  const unread = [...failures, ...gaps];
  for (const line of unread) call.terminal.writeError(warningLine(appendCluster(line, cluster)));
  const note = call.values.watch ? undefined : noteOfFlags(snapshots);
  if (note !== undefined) call.terminal.writeError(noteLine(note));
  const explained = snapshots.map((snapshot) => ({ snapshot, explanation: explainWorkload(snapshot) }));
  const known = explained.map(({ snapshot, explanation }) => ({ snapshot, held: explanation.hold?.object }));
  return {
    workloads: explained.map(({ explanation }) => listedWorkload(explanation)).sort(byObjectName),
    changes: call.values.watch ? changesNow(known, batches) : [],
    complete: unread.length === 0,
  };
}
