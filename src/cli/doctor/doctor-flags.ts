import { connectionFlags } from "../cluster-command.ts";
import { listFlags } from "../flags/list-flags.ts";
import { tableFlag } from "../flags/output-flag.ts";
import { toldFlags } from "../flags/told-flags.ts";

/** The flags of `wave doctor`, one row a flag, in the order of `--help`. */
export const doctorFlags = {
  namespace: listFlags.namespace,
  "all-namespaces": listFlags["all-namespaces"],
  output: tableFlag("A table and what was found, or for a program."),

  ...connectionFlags,
  ...toldFlags,
};
