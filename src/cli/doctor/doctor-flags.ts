import { connectionFlags } from "../cluster/cluster-command.ts";
import { inheritedFlags } from "../cluster/inherited-flags.ts";
import { tableFlag } from "../flags/output-flag.ts";
import { listFlags } from "../list/list-flags.ts";

/** The flags of `wave doctor`, one row a flag, in the order of `--help`. */
export const doctorFlags = {
  namespace: listFlags.namespace,
  "all-namespaces": listFlags["all-namespaces"],
  output: tableFlag("A table and what was found, or for a program."),

  ...connectionFlags,
  ...inheritedFlags,
};
