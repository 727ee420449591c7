import { connectionFlags } from "../cluster/cluster-command.ts";
import { inheritedFlags } from "../cluster/inherited-flags.ts";
import { choice } from "../flags/flag-types.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { programForms } from "../output/program-text.ts";

/** The flags of `wave explain`, one row a flag, in the order of `--help`. */
export const explainFlags = {
  namespace: namespaceFlag,
  output: choice({
    group: namespaceFlag.group,
    short: "o",
    of: ["text", ...programForms],
    default: "text",
    help: "For a person or for a program.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};
