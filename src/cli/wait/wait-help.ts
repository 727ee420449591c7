import { sharedMeanings } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import { waitFlags } from "./wait-flags.ts";

/** What `wave wait --help` prints. */
export function waitHelp(): string {
  return renderHelp(
    {
      usage: "wave wait KIND/NAME… [flags]",
      summary:
        "Waits until every Pod of each workload runs with the current configuration, or says what holds it: for pipelines, " +
        "right after kubectl apply. It reads the cluster with your own permissions and writes nothing.",
      examples: [
        ["kubectl apply -f shop/ && wave wait deployment/web sts/db -n shop", "a step of a pipeline"],
        ["wave wait deployment/web -n shop --timeout=0", "only ask: is it so now?"],
      ],
      notes: [
        "It ends before its time where only a person can go on: a rollout that failed, a change that is halted, a workload that has not opted in.",
      ],
      exits: {
        0: "every Pod of all of them runs with the current configuration",
        1: "that has not come in time, or cannot come, or there is no such workload",
        ...sharedMeanings,
      },
    },
    waitFlags,
  );
}
