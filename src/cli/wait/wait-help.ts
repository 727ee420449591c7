import { exitCodes, sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import type { HelpScope } from "../flags/parse-flags.ts";
import { waitFlags } from "./wait-flags.ts";

/** Returns the help of `wave wait`. */
export function waitHelp(scope: HelpScope): string {
  return renderHelp(
    {
      usage: "wave wait KIND/NAME... [flags]",
      description:
        "Wait until every Pod of these workloads runs with the current configuration. For pipelines, right after kubectl apply.",
      examples: [
        ["kubectl apply -f shop/ && wave wait deployment/web sts/db -n shop", "a pipeline step"],
        ["wave wait deployment/web -n shop --timeout=0", "check once, without waiting"],
      ],
      usualFlags: ["namespace", "timeout"],
      details: [
        "The command ends early if only a person can continue: a rollout failed, a change is halted, or a workload has not opted in or exceeds a limit.",
        "It uses your permissions and writes nothing.",
      ],
      exits: {
        [exitCodes.done]: "Every Pod of every workload runs with the current configuration.",
        [exitCodes.no]: "Timeout, a person must continue, or a workload was not found.",
        ...sharedExitCodes,
      },
    },
    waitFlags,
    scope,
  );
}
