import { connectionFlags } from "../cluster/cluster-command.ts";
import { inheritedFlags } from "../cluster/inherited-flags.ts";
import { bool } from "../flags/flag-types.ts";
import { tableFlag } from "../flags/output-flag.ts";
import { listFlags } from "../list/list-flags.ts";

/** The flags of `wave migrate`, one row a flag, in the order of `--help`. */
export const migrateFlags = {
  "dry-run": bool({
    group: listFlags.namespace.group,
    default: false,
    help: "Only look. Needed: there is nothing that this command would write.",
  }),
  namespace: listFlags.namespace,
  "all-namespaces": listFlags["all-namespaces"],
  output: tableFlag("A table, or for a program."),

  ...connectionFlags,
  ...inheritedFlags,
};
