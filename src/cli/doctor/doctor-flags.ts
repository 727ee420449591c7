import { connectionFlags } from "../cluster-command.ts";
import { choice } from "../flags/flag-types.ts";
import { listFlags } from "../flags/list-flags.ts";
import { toldFlags } from "../flags/told-flags.ts";
import { programForms } from "../output/program-text.ts";

/** The flags of `wave doctor`, one row a flag, in the order of `--help`. */
export const doctorFlags = {
  namespace: listFlags.namespace,
  "all-namespaces": listFlags["all-namespaces"],
  output: choice({
    group: listFlags.namespace.group,
    short: "o",
    of: ["table", ...programForms],
    default: "table",
    help: "A table and what was found, or for a program.",
  }),

  ...connectionFlags,
  ...toldFlags,
};
