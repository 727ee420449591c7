import { connectionFlags } from "../cluster-command.ts";
import { bool } from "../flags/flag-types.ts";
import { listFlags } from "../flags/list-flags.ts";
import { tableFlag } from "../flags/output-flag.ts";
import { toldFlags } from "../flags/told-flags.ts";

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
  ...toldFlags,
};
