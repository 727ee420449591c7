import { exitCodes, sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import type { HelpScope } from "../flags/parse-flags.ts";
import { checks } from "./checks/checks.ts";
import { doctorFlags } from "./doctor-flags.ts";

/** Returns the help of `wave doctor`. */
export function doctorHelp(scope: HelpScope): string {
  return renderHelp(
    {
      usage: "wave doctor [flags]",
      description: "Check Wave and its workloads, and print the next step for each problem.",
      examples: [
        ["wave doctor -n shop", "Wave and the workloads of namespace shop"],
        ["wave doctor -A", "the workloads of all namespaces"],
        ["wave doctor -A -o json", "for a program"],
      ],
      usualFlags: ["namespace", "all-namespaces", "output"],
      details: [
        "The checks use your permissions and write nothing. To check the webhook, a Deployment is created as a dry run, which stores nothing.",
        "A check that needs a permission that you lack is unchecked. All other checks still run.",
      ],
      words: {
        heading: "Checks",
        meanings: Object.fromEntries(Object.entries(checks).map(([name, { means }]) => [name, means])),
      },
      exits: {
        [exitCodes.done]: "All checks are complete and found no problem.",
        [exitCodes.no]: "There is a problem.",
        ...sharedExitCodes,
      },
    },
    doctorFlags,
    scope,
  );
}
