import { asFound } from "../cluster/available-kinds.ts";
import { type Called, type Cluster, clusterCommand } from "../cluster/cluster-command.ts";
import { readRunningPolicy } from "../cluster/effective-flags.ts";
import { type Asked, explainWorkload } from "../cluster/explanation.ts";
import { readOne } from "../cluster/read-one.ts";
import { answered } from "../command/exit-codes.ts";
import { namedWorkloadRows, parseWorkloadArgument, type WorkloadArgument } from "../command/workload-argument.ts";
import { hasColors, paintOf } from "../output/paint.ts";
import { isForProgram, programText } from "../output/program-text.ts";
import { explainFlags } from "./explain-flags.ts";
import { renderExplanation } from "./explain-text.ts";

/**
 * `wave explain KIND/NAME`: what Wave would do with one workload now and why, from the cluster as it is. Writes nothing
 * there.
 */
export const explain = clusterCommand({
  name: "explain",
  flags: explainFlags,
  kinds: namedWorkloadRows,
  help: async () => (await import("./explain-help.ts")).explainHelp(),
  read: (called) => {
    const { positionals, values, terminal } = called;
    const argument = parseWorkloadArgument(positionals);
    return async (cluster) => {
      const asked = await readLive(argument, called, cluster);
      const explanation = explainWorkload(asked);
      const paint = paintOf(hasColors(terminal.env, terminal.outputToTerminal));
      terminal.write(
        isForProgram(values.output)
          ? await programText(explanation, values.output)
          : renderExplanation(explanation, paint, terminal.outputColumns),
      );
      return answered({ lookedAtAll: explanation.state !== "unknown" && asked.gaps.length === 0 });
    };
  },
});

async function readLive(
  argument: WorkloadArgument,
  called: Called<typeof explainFlags>,
  cluster: Cluster,
): Promise<Asked> {
  const namespace = called.values.namespace ?? cluster.namespace;
  const policy = await readRunningPolicy("explain", cluster, called, namespace);
  return readOne(cluster, asFound(argument, policy), namespace, policy);
}
