import { workloadStateNames } from "../cluster/states/workload-states.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { choice, text, words } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { allNamespacesFlag, namespaceFlag } from "../flags/namespace-flag.ts";
import { programForms } from "../output/program-text.ts";

const { group } = namespaceFlag;

/** The flags of `wave list`, one row a flag, in the order of `--help`. */
export const listFlags = {
  namespace: namespaceFlag,
  "all-namespaces": allNamespacesFlag,
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
