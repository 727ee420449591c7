import { programForms } from "../output/program-text.ts";
import { choice } from "./flag-types.ts";
import { namespaceFlag } from "./namespace-flag.ts";

/** The flag that says how a command writes what it tells of workloads: a table, or for a program. */
export function tableFlag(help: string) {
  return choice({ group: namespaceFlag.group, short: "o", of: ["table", ...programForms], default: "table", help });
}
