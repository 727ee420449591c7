// `wave explain KIND/NAME`. This folder renders explanations; src/cli/cluster/explanation makes them.
import { explainWorkload } from "../cluster/explanation/explanation.ts";
import { withAvailableKind } from "../cluster/running-wave/available-kinds.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { readWorkloadSnapshot } from "../cluster/snapshot/read-one.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import { type Cluster, clusterCommand } from "../command/cluster-command.ts";
import { exitCodeFor, exitCodes } from "../command/exit-codes.ts";
import type { CommandCall } from "../command/flag-command.ts";
import { parseWorkloadArgument, type WorkloadArgument, workloadArgumentKinds } from "../command/workload-argument.ts";
import { connectionFlags } from "../flags/connection-flags.ts";
import { choice } from "../flags/flag-types.ts";
import { inheritedFlags } from "../flags/inherited-flags.ts";
import { namespaceFlag } from "../flags/namespace-flag.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { isForProgram, programForms, programText } from "../output/program-text.ts";
import { renderExplanation } from "./explain-text.ts";

const flags = {
  namespace: namespaceFlag,
  output: choice({
    group: namespaceFlag.group,
    short: "o",
    of: ["text", ...programForms],
    default: "text",
    placeholder: "FORMAT",
    help: "text, json or yaml.",
  }),

  ...connectionFlags,
  ...inheritedFlags,
};

/** Explains one workload as it is in the cluster now: what Wave would do and why. Writes nothing to the cluster. */
export const explainCommand = clusterCommand({
  name: "explain",
  flags,
  kinds: workloadArgumentKinds,
  help: {
    usage: "wave explain KIND/NAME [flags]",
    description:
      "Explain one workload: its state, what Wave does next and why, and which ConfigMaps and Secrets its Pods read. Never shows a value.",
    examples: [
      ["wave explain deployment/web -n shop", "one Deployment"],
      ["wave explain sts db -n shop -o json", "a StatefulSet, as JSON"],
      ["wave explain ds/agent --cross-namespace=any", "as if Wave ran with this flag"],
    ],
    usualFlags: ["namespace", "output"],
    details: [
      "The answer is about the cluster as it is now. It uses your permissions, writes nothing and works if Wave is down.",
      "KIND is deployment, statefulset, daemonset (or deploy, sts, ds), or a kind of --workload-kinds.",
    ],
    exits: {
      [exitCodes.done]: "The explanation is complete.",
      [exitCodes.no]: "The workload was not found.",
    },
  },
  read: (call) => {
    const { positionals, values, terminal } = call;
    const argument = parseWorkloadArgument(positionals);
    return async (cluster) => {
      const snapshot = await readSnapshot(argument, call, cluster);
      const explanation = explainWorkload(snapshot);
      const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
      terminal.write(
        isForProgram(values.output)
          ? await programText(explanation, values.output)
          : renderExplanation(explanation, { now: Date.now(), paint, width: terminal.outputColumns }),
      );
      return exitCodeFor({ complete: explanation.state !== "unknown" && snapshot.gaps.length === 0 });
    };
  },
});

async function readSnapshot(
  argument: WorkloadArgument,
  call: CommandCall<typeof flags>,
  cluster: Cluster,
): Promise<WorkloadSnapshot> {
  const namespace = call.values.namespace ?? cluster.namespace;
  const policy = await readRunningPolicy(cluster, call, namespace);
  return readWorkloadSnapshot(cluster, withAvailableKind(argument, policy), namespace, policy);
}
