import { workloadStateNames } from "../cluster/states/state-rows.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { bool, choice, contexts, text, words } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { allNamespacesFlag, namespaceFlag } from "../flags/namespace-flag.ts";
import { programForms } from "../output/program-text.ts";

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
