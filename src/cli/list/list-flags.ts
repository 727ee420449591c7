import { connectionFlags } from "../cluster/cluster-command.ts";
import { inheritedFlags } from "../cluster/inherited-flags.ts";
import { workloadStateNames } from "../cluster/workload-state.ts";
import { choice, text, words } from "../flags/flag-types.ts";
import { allNamespacesFlag, namespaceFlag } from "../flags/namespace-flag.ts";
import { programForms } from "../output/program-text.ts";

const { group } = namespaceFlag;

/** The flags of `wave list`, one row a flag, in the order of `--help`. */
export const listFlags = {
  namespace: namespaceFlag,
  "all-namespaces": allNamespacesFlag,
  selector: text({
    group,
    short: "l",
    placeholder: "LABELS",
    help: "Those with these labels alone, as kubectl takes them: app=web,tier!=test.",
  }),
  state: words({ group, of: workloadStateNames, help: "Those in these states alone." }),
  output: choice({
    group,
    short: "o",
    of: ["table", "wide", ...programForms],
    default: "table",
    help: "A table, one with more columns, or for a program.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};
