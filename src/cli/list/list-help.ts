import { workloadStates } from "../cluster/workload-state.ts";
import { sharedMeanings } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import { listFlags } from "./list-flags.ts";

/** What `wave list --help` prints. */
export function listHelp(): string {
  return renderHelp(
    {
      usage: "wave list [flags]",
      summary:
        "Lists every workload that opted in: where it stands, why, since when, and how many of its Pods run with the " +
        "current configuration. It decides as Wave does, from the cluster as it is and with your own permissions, and writes nothing.",
      examples: [
        ["wave list", "the workloads of your namespace"],
        ["wave list -A --state held,waiting,failed", "what needs a look, in all namespaces"],
        ["wave list -n shop -l app=web -o json", "for a program"],
      ],
      words: { heading: "States", meanings: workloadStates },
      notes: [
        "What you may not read makes a workload unknown, and says why with -o wide; the others are listed all the same.",
      ],
      exits: { 0: "it could look at all of them", ...sharedMeanings },
    },
    listFlags,
  );
}
