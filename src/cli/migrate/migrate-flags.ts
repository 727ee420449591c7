import { connectionFlags } from "../flags/connection-flags.ts";
import { bool } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { tableFlag } from "../flags/output-flag.ts";
import { listFlags } from "../list/list-flags.ts";

/** The flags of `wave migrate`, in the order of the help. */
export const migrateFlags = {
  "dry-run": bool({
    group: listFlags.namespace.group,
    default: false,
    help: "Preview only. Required, because this command never writes.",
  }),
  namespace: listFlags.namespace,
  "all-namespaces": listFlags["all-namespaces"],
  output: tableFlag("Output format: a table, or data for a program."),

  ...connectionFlags,
  ...inheritedFlags,
};
