import { workloadStateNames } from "../cluster/states/state-rows.ts";
import type { Terminal } from "../command/command.ts";
import type { CommandCall } from "../command/flag-command.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { bool, choice, contexts, text, words } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { allNamespacesFlag, namespaceFlag } from "../flags/namespace-flag.ts";
import type { FlagTable } from "../flags/parse-flags.ts";
import { hasColors, type Paint, paintOf } from "../output/paint.ts";
import { programForms } from "../output/program-text.ts";
import type { ListedWorkload, ListForm } from "./list-output.ts";

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
  output: choice({
    group,
    short: "o",
    of: ["table", "wide", ...programForms],
    default: "table",
    placeholder: "FORMAT",
    help: "table, wide (more columns), json or yaml.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};

/** A call of `wave list`. */
export type ListCall = CommandCall<typeof listFlags & FlagTable>;

/** Returns whether a list shows a workload in its state. */
export function isWanted(values: ListCall["values"], { state }: Pick<ListedWorkload, "state">): boolean {
  return values.state?.includes(state) ?? true;
}

/** Returns the columns of the table: with several clusters, a namespace may differ from cluster to cluster. */
export function columnsOf(values: ListCall["values"]): Pick<ListForm, "clusters" | "namespaces"> {
  const clusters = values.contexts !== undefined;
  return { clusters, namespaces: values["all-namespaces"] || (clusters && values.namespace === undefined) };
}

/** Returns the colors of a list: only on a terminal. */
export function paintFor({ env, outputToTerminal }: Terminal): Paint {
  return paintOf(hasColors(env, outputToTerminal));
}
