import { connectionFlags } from "../flags/connection-flags.ts";
import { choice, text } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { programForms } from "../output/program-text.ts";

const group = "Manifests";

/** The flags of `wave diff`, in the order of the help. */
export const diffFlags = {
  filename: {
    ...text({
      group,
      short: "f",
      placeholder: "FILE",
      help: "File, folder (all *.yaml, *.yml and *.json below it), or - for standard input. Repeatable.",
    }),
    repeats: true,
  },
  namespace: {
    ...namespaceFlag,
    group,
    help: "Namespace of manifests without a namespace, as in kubectl apply.",
  },
  output: choice({
    group,
    short: "o",
    of: ["table", "markdown", ...programForms],
    default: "table",
    help: "Output format: a table, a comment for a pull request, or data for a program.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};
