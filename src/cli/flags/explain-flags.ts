import { connectionFlags } from "../cluster-command.ts";
import { programForms } from "../output/program-text.ts";
import { choice } from "./flag-types.ts";
import { namespaceFlag } from "./namespace-flag.ts";
import { toldFlags } from "./told-flags.ts";

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
  ...toldFlags,
};
