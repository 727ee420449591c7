import { sharedMeanings } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import { explainFlags } from "./explain-flags.ts";

/** What `wave explain --help` prints. */
export function explainHelp(): string {
  return renderHelp(
    {
      usage: "wave explain KIND/NAME [flags]",
      summary:
        "Shows what Wave would do with a Deployment, StatefulSet or DaemonSet now and why: which ConfigMaps and Secrets " +
        "its Pods see, through which field each, what is missing, and the recorded and the current hash. It reads the cluster " +
        "with your own permissions, writes nothing, and never shows a value.",
      examples: [
        ["wave explain deployment/web -n shop", "one Deployment"],
        ["wave explain sts db -n shop -o json", "a StatefulSet, for a program"],
        ["wave explain ds/agent --cross-namespace=any", "as a Wave decides that runs with this flag"],
      ],
      notes: ["KIND is deployment, statefulset or daemonset, or as short as kubectl has it: deploy, sts, ds."],
      exits: {
        0: "it could explain",
        1: "there is no such workload",
        ...sharedMeanings,
      },
    },
    explainFlags,
  );
}
