import { connectionFlags } from "../cluster/cluster-command.ts";
import { inheritedFlags } from "../cluster/inherited-flags.ts";
import { choice, text } from "../flags/flag-types.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { programForms } from "../output/program-text.ts";

const group = "Manifests";

/** The flags of `wave diff`, one row a flag, in the order of `--help`. */
export const diffFlags = {
  filename: {
    ...text({
      group,
      short: "f",
      placeholder: "FILE",
      help: "A file, a folder with all *.yaml, *.yml and *.json below it, or - for standard input; may be given several times.",
    }),
    repeats: true,
  },
  namespace: {
    ...namespaceFlag,
    group,
    help: "Namespace of what names none, as for kubectl apply.",
  },
  output: choice({
    group,
    short: "o",
    of: ["table", "markdown", ...programForms],
    default: "table",
    help: "A table, one for a pull request, or for a program.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};
