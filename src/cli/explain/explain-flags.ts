import { connectionFlags } from "../flags/connection-flags.ts";
import { choice } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
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
    placeholder: "FORMAT",
    help: "text, json or yaml.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};
