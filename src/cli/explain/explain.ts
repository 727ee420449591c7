// `wave explain KIND/NAME`. This folder renders explanations; src/cli/cluster/explanation makes them.

import { explainWorkload } from "../cluster/explanation/explanation.ts";
import { withAvailableKind } from "../cluster/running-wave/available-kinds.ts";
import { readRunningPolicy } from "../cluster/running-wave/effective-flags.ts";
import { readWorkloadSnapshot } from "../cluster/snapshot/read-one.ts";
import type { WorkloadSnapshot } from "../cluster/snapshot/workload-snapshot.ts";
import { type Cluster, type CommandCall, clusterCommand } from "../command/cluster-command.ts";
import { exitCodeFor } from "../command/exit-codes.ts";
import { parseWorkloadArgument, type WorkloadArgument, workloadArgumentKinds } from "../command/workload-argument.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { isForProgram, programText } from "../output/program-text.ts";
import { explainFlags } from "./explain-flags.ts";
import { renderExplanation } from "./explain-text.ts";

/** Explains one workload as it is in the cluster now: what Wave would do and why. Writes nothing to the cluster. */
export const explainCommand = clusterCommand({
  name: "explain",
  flags: explainFlags,
  kinds: workloadArgumentKinds,
  help: async (scope) => (await import("./explain-help.ts")).explainHelp(scope),
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
          : renderExplanation(explanation, paint, terminal.outputColumns),
      );
      return exitCodeFor({ complete: explanation.state !== "unknown" && snapshot.gaps.length === 0 });
    };
  },
});

async function readSnapshot(
  argument: WorkloadArgument,
  call: CommandCall<typeof explainFlags>,
  cluster: Cluster,
): Promise<WorkloadSnapshot> {
  const namespace = call.values.namespace ?? cluster.namespace;
  const policy = await readRunningPolicy(cluster, call, namespace);
  return readWorkloadSnapshot(cluster, withAvailableKind(argument, policy), namespace, policy);
}
