import { programForms } from "../output/program-text.ts";
import { choice } from "./flag-types.ts";
import { namespaceFlag } from "./namespace-flag.ts";

/** Returns the flag for the format of the output: a table, or a form for programs. */
export function tableFlag(help: string) {
  return choice({
    group: namespaceFlag.group,
    short: "o",
    of: ["table", ...programForms],
    default: "table",
    placeholder: "FORMAT",
    help,
  });
}
