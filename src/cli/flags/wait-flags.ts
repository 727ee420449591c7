import { connectionFlags } from "../cluster-command.ts";
import { duration } from "./flag-types.ts";
import { namespaceFlag } from "./namespace-flag.ts";
import { toldFlags } from "./told-flags.ts";

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
  ...toldFlags,
};
