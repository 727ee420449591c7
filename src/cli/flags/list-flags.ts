import { workloadStateNames } from "../cluster/workload-state.ts";
import { connectionFlags } from "../cluster-command.ts";
import { bool, choice, text, words } from "./flag-types.ts";
import { namespaceFlag } from "./namespace-flag.ts";
import { toldFlags } from "./told-flags.ts";

const { group } = namespaceFlag;

/** The flags of `wave list`, one row a flag, in the order of `--help`. */
export const listFlags = {
  namespace: namespaceFlag,
  "all-namespaces": bool({ group, short: "A", default: false, help: "The workloads of all namespaces." }),
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
    of: ["wide", "json", "yaml"],
    default: undefined,
    shownDefault: "a table",
    help: "A table with more columns, or for a program.",
  }),

  ...connectionFlags,
  ...toldFlags,
};
