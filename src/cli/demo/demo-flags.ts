import { exitCodes, sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import { bool } from "../flags/flag-types.ts";
import type { HelpScope } from "../flags/parse-flags.ts";
import { runFlags } from "../flags/run-flags.ts";

const group = "Cluster";

/** The flags of `wave demo`, in the order of the help. */
export const demoFlags = {
  keep: bool({
    group: "Duration",
    default: false,
    help: "Keep everything running after the demo, with a kubeconfig for experiments, until Ctrl-C.",
  }),
  kubeconfig: {
    ...runFlags.kubeconfig,
    group,
    help: "Run the demo on the cluster of this kubeconfig, in a temporary namespace.",
  },
  context: {
    ...runFlags.context,
    group,
    help: "Run the demo on the cluster of this context, in a temporary namespace.",
  },
};

export function demoHelp(scope: HelpScope): string {
  return renderHelp(
    {
      usage: "wave demo [flags]",
      description: "Show in a few seconds which edits of ConfigMaps and Secrets make Wave restart a workload.",
      examples: [
        ["wave demo", "without a cluster"],
        ["wave demo --keep", "then try kubectl yourself"],
        ["wave demo --kubeconfig ~/.kube/config", "on your cluster"],
      ],
      details: [
        "By default, the demo runs Wave on a small Kubernetes API server inside this process. It deploys nginx with a ConfigMap, edits the ConfigMap, and shows which Pods are replaced and why.",
        "Only --kubeconfig and --context select a real cluster. The variable KUBECONFIG does not.",
      ],
      exits: {
        [exitCodes.done]: "Every step had the expected result.",
        [exitCodes.no]: "A step had another result.",
        ...sharedExitCodes,
        130: "Ctrl-C ended the demo.",
      },
    },
    demoFlags,
    scope,
  );
}
