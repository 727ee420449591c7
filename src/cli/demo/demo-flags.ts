import { sharedExitCodes } from "../command/exit-codes.ts";
import { renderHelp } from "../command/help.ts";
import { bool } from "../flags/flag-types.ts";
import { runFlags } from "../flags/run-flags.ts";

const group = "Where";

/** The flags of `wave demo`, one row a flag, in the order of `--help`. */
export const demoFlags = {
  keep: bool({
    group: "How long",
    default: false,
    help: "Leave everything running after the story, with a kubeconfig to play with, until Ctrl-C.",
  }),
  kubeconfig: {
    ...runFlags.kubeconfig,
    group,
    help: "Tell the story on the cluster of this kubeconfig, in a namespace of its own that is removed at the end.",
  },
  context: {
    ...runFlags.context,
    group,
    help: "The same, on the cluster of this context.",
  },
};

/** What `wave demo --help` prints. */
export function demoHelp(): string {
  return renderHelp(
    {
      usage: "wave demo [flags]",
      summary:
        "Shows in a few seconds what Wave does: runs it beside a small Kubernetes API server inside this process, applies " +
        "an nginx that reads a ConfigMap, edits that, and shows which Pods are replaced and why.",
      examples: [
        ["wave demo", "no cluster is needed and none is touched"],
        ["wave demo --keep", "the same, to play with kubectl afterwards"],
        ["wave demo --kubeconfig ~/.kube/config", "the same on a cluster of yours"],
      ],
      notes: ["Only these flags choose a cluster: $KUBECONFIG and environment variables alone do not."],
      exits: {
        0: "everything happened as told",
        1: "a step did not",
        ...sharedExitCodes,
        130: "Ctrl-C ended the story early",
      },
    },
    demoFlags,
  );
}
