import { clusterCommand } from "../command/cluster-command.ts";
import { argumentErrorTexts } from "../command/error-texts.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { UsageError } from "../flags/usage-error.ts";
import { releaseSchedulingHolds, schedulingHoldFlags } from "./scheduling-holds.ts";

/** The example of this command and its purpose. */
export const releaseHoldsExample = [
  "wave release --scheduling-holds -A",
  "all pending Pods, after you removed Wave",
] as const;

/** Reports whether an argument of `wave release` requests this command. */
export function requestsHolds(argument: string): boolean {
  return argument.split("=")[0] === "--scheduling-holds";
}

const flags = { ...schedulingHoldFlags, namespace: namespaceFlag, ...connectionFlags, ...inheritedFlags };

/** Lifts scheduling holds without an object. The image of Wave has this command too, for the hook before `helm uninstall`. */
export const releaseHolds = clusterCommand({
  name: "release",
  flags,
  help: {
    usage: "wave release --scheduling-holds [flags]",
    description: "Lift scheduling holds, and remove finalizers of Wave. The command works without a running Wave.",
    examples: [releaseHoldsExample],
    usualFlags: ["namespace", ...Object.keys(schedulingHoldFlags)],
    details: [
      "You need permission to list and patch workloads, to list and delete Pods, and, for finalizers, to list and patch ConfigMaps and Secrets.",
    ],
    exits: { [exitCodes.done]: "Done, or there was nothing to do." },
  },
  surplus: argumentErrorTexts.surplusNamespace,
  read: (call) => {
    if (call.given.get("namespace") === undefined && !call.values["all-namespaces"])
      throw new UsageError(argumentErrorTexts.noScope);
    return (cluster) => releaseSchedulingHolds(cluster, call);
  },
});
