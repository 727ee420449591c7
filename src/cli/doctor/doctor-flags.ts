import { connectionFlags } from "../flags/connection-flags.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { tableFlag } from "../flags/output-flag.ts";
import { listFlags } from "../list/list-flags.ts";

/** The flags of `wave doctor`, in the order of the help. */
export const doctorFlags = {
  namespace: listFlags.namespace,
  "all-namespaces": listFlags["all-namespaces"],
  output: tableFlag("Output format: a table with findings, or all findings for a program."),

  ...connectionFlags,
  ...inheritedFlags,
};
