import { explainWorkload, noteOfFlags } from "../cluster/explanation/explanation.ts";
import { readRunningPolicy } from "../cluster/running-wave/known-policy.ts";
import { readWorkloadSnapshots } from "../cluster/snapshot/read-one.ts";
import { workloadStateNames } from "../cluster/states/state-rows.ts";
import type { Cluster } from "../command/cluster-command.ts";
import { appendCluster, noteLine, warningLine } from "../command/command.ts";
import type { CommandCall } from "../command/help.ts";
import { byObjectName } from "../command/workload-argument.ts";
import { allNamespacesFlag, connectionFlags, namespaceFlag, outputFlag } from "../flags/connection-flags.ts";
import { bool, contexts, text, words } from "../flags/flag-types.ts";
import type { FlagTable } from "../flags/parse-flags.ts";
import { inheritedFlags } from "../flags/run-flags.ts";
import { paintFor } from "../output/table.ts";
import { type ChangeNow, changesNow } from "./changes-now.ts";
import { type ListedWorkload, listedWorkload, type TableForm } from "./list-output.ts";

/** The workloads of one cluster that opted in, in every state, sorted by their names. */
interface ReadList {
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly workloads: readonly ListedWorkload[];
  readonly changes: readonly ChangeNow[];
  /** Whether everything that the list depends on could be listed. */
  readonly complete: boolean;
}

/** Reads the workloads of one cluster. Writes a warning for each read that failed. Throws what {@link readWorkloadSnapshots} throws. */
export async function readList(call: ListCall, cluster: Cluster): Promise<ReadList> {
  const { values, terminal } = call;
  const { selector, watch } = values;
  const namespace = values["all-namespaces"] ? undefined : (values.namespace ?? cluster.namespace);
  const policy = await readRunningPolicy(cluster, call, namespace);
  const { snapshots, failures, gaps, batches } = await readWorkloadSnapshots(cluster, namespace, selector, policy);
  const unread = [...failures, ...gaps];
  for (const line of unread) terminal.writeError(warningLine(appendCluster(line, cluster)));
  const note = watch ? undefined : noteOfFlags(snapshots);
  if (note !== undefined) terminal.writeError(noteLine(note));
  const explained = snapshots.map((snapshot) => ({ snapshot, explanation: explainWorkload(snapshot) }));
  return {
    namespace,
    workloads: explained.map(({ explanation }) => listedWorkload(explanation)).sort(byObjectName),
    changes: watch ? changesNow(explained, batches) : [],
    complete: unread.length === 0,
  };
}

const { group } = namespaceFlag;

/** The flags of `wave list`, one row a flag, in the order of `--help`. */
export const listFlags = {
  namespace: namespaceFlag,
  "all-namespaces": allNamespacesFlag,
  contexts: contexts({
    group,
    help: "List the workloads of several clusters, with a column CLUSTER. Names contexts of the kubeconfig.",
  }),
  state: words({
    group,
    of: workloadStateNames,
    placeholder: "STATE,...",
    help: "Only these states, see wave help states.",
  }),
  selector: text({
    group,
    short: "l",
    placeholder: "LABELS",
    help: "Only workloads with these labels, for example app=web,tier!=test.",
  }),
  watch: bool({
    group,
    short: "w",
    default: false,
    help: "Keep one live table, until Ctrl-C. Without a terminal, print each change.",
  }),
  output: outputFlag(["table", "wide"], "table, wide (more columns), json or yaml."),

  ...connectionFlags,
  ...inheritedFlags,
};

/** A call of `wave list`. */
export type ListCall = CommandCall<typeof listFlags & FlagTable>;

/** Returns whether a list shows a workload in its state. */
export function isWanted(values: ListCall["values"], { state }: Pick<ListedWorkload, "state">): boolean {
  return values.state?.includes(state) ?? true;
}

/** Returns the form of the table: with several clusters, a namespace may differ from cluster to cluster. */
export function tableFormOf({ values, terminal }: ListCall): TableForm {
  const clusters = values.contexts !== undefined;
  const namespaces = values["all-namespaces"] || (clusters && values.namespace === undefined);
  return { clusters, namespaces, wide: values.output === "wide", paint: paintFor(terminal) };
}
