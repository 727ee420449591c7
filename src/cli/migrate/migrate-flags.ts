import { connectionFlags } from "../cluster-command.ts";
import { bool, choice } from "../flags/flag-types.ts";
import { listFlags } from "../flags/list-flags.ts";
import { toldFlags } from "../flags/told-flags.ts";
import { programForms } from "../output/program-text.ts";

/** The flags of `wave migrate`, one row a flag, in the order of `--help`. */
export const migrateFlags = {
  "dry-run": bool({
    group: listFlags.namespace.group,
    default: false,
    help: "Only look. Needed: there is nothing that this command would write.",
  }),
  namespace: listFlags.namespace,
  "all-namespaces": listFlags["all-namespaces"],
  output: choice({
    group: listFlags.namespace.group,
    short: "o",
    of: ["table", ...programForms],
    default: "table",
    help: "A table, or for a program.",
  }),

  ...connectionFlags,
  ...toldFlags,
};
