import { exitCodes, sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import type { HelpScope } from "../flags/parse-flags.ts";
import { explainFlags } from "./explain-flags.ts";

/** Returns the help of `wave explain`. */
export function explainHelp(scope: HelpScope): string {
  return renderHelp(
    {
      usage: "wave explain KIND/NAME [flags]",
      description:
        "Explain one workload: its state, what Wave does next and why, and which ConfigMaps and Secrets its Pods read. Never shows a value.",
      examples: [
        ["wave explain deployment/web -n shop", "one Deployment"],
        ["wave explain sts db -n shop -o json", "a StatefulSet, for a program"],
        ["wave explain ds/agent --cross-namespace=any", "as a Wave with this flag decides"],
      ],
      usualFlags: ["namespace", "output"],
      details: [
        "The answer is about the cluster as it is now. It uses your permissions, writes nothing and works if Wave is down.",
        "KIND is deployment, statefulset, daemonset (or deploy, sts, ds), or a kind of --workload-kinds.",
      ],
      exits: {
        [exitCodes.done]: "The explanation is complete.",
        [exitCodes.no]: "The workload was not found.",
        ...sharedExitCodes,
      },
    },
    explainFlags,
    scope,
  );
}
