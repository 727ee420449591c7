import { meaningOfStates } from "../cluster/states/workload-states.ts";
import { exitCodes, sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import type { HelpScope } from "../flags/parse-flags.ts";
import { listFlags } from "./list-flags.ts";

/** Returns the help of `wave list`. */
export function listHelp(scope: HelpScope): string {
  return renderHelp(
    {
      usage: "wave list [flags]",
      description: "List the workloads that opted in, with state, up-to-date Pods and reason.",
      examples: [
        ["wave list -A --state=failed,waiting,held", "needs attention"],
        ["wave list -n shop -o wide", "reasons in words"],
        ["wave list -n shop -l app=web -o json", "for a program"],
      ],
      usualFlags: ["namespace", "all-namespaces", "state", "selector", "output"],
      details: [
        "The list shows what Wave would do now. It uses your permissions, writes nothing and works if Wave is down.",
        "A workload is unknown if you lack permission to read something that it depends on; -o wide shows what. All other workloads are listed.",
      ],
      words: { heading: "States", meanings: meaningOfStates },
      exits: { [exitCodes.done]: "The list is complete.", ...sharedExitCodes },
    },
    listFlags,
    scope,
  );
}
