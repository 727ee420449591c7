import { connectionFlags } from "../cluster/cluster-command.ts";
import { inheritedFlags } from "../cluster/inherited-flags.ts";
import { duration } from "../flags/flag-types.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";

/** The flags of `wave wait`, one row a flag, in the order of `--help`. */
export const waitFlags = {
  namespace: namespaceFlag,
  timeout: duration({
    group: namespaceFlag.group,
    default: 300_000,
    minMs: 1,
    zero: "one look, without waiting",
    help: "How long to wait.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};
