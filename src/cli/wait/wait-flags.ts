import { connectionFlags } from "../flags/connection-flags.ts";
import { duration } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";

/** The flags of `wave wait`, one row a flag, in the order of `--help`. */
export const waitFlags = {
  namespace: namespaceFlag,
  timeout: duration({
    group: namespaceFlag.group,
    default: 300_000,
    minMs: 1,
    zero: "one check without waiting",
    help: "Maximum time to wait. 0: check once.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};
