import { exitCodes, sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import { checks } from "./checks.ts";
import { doctorFlags } from "./doctor-flags.ts";

/** What `wave doctor --help` prints. */
export function doctorHelp(): string {
  return renderHelp(
    {
      usage: "wave doctor [flags]",
      summary:
        "Looks for what keeps Wave from rolling workloads, or rolls them otherwise than was meant, and says of each thing what to do. " +
        "It looks with your own permissions, says what it could not look at, and writes nothing: a workload is tried, without being stored, to see whether the webhook answers.",
      examples: [
        ["wave doctor", "Wave, and the workloads of your namespace"],
        ["wave doctor -A", "the workloads of all namespaces"],
        ["wave doctor -A -o json", "for a program"],
      ],
      words: {
        heading: "What is looked at",
        meanings: Object.fromEntries(Object.entries(checks).map(([name, { means }]) => [name, means])),
      },
      exits: {
        [exitCodes.done]: "all was looked at, and nothing is a problem",
        [exitCodes.no]: "something is a problem",
        ...sharedExitCodes,
        [exitCodes.incomplete]: `nothing is a problem, and something could not be looked at; or ${sharedExitCodes[exitCodes.incomplete]}`,
      },
    },
    doctorFlags,
  );
}
