import { isNotFound } from "../kube/errors.ts";
import { resourcePath } from "../kube/resources.ts";
import { objectsToRead } from "../rollout/cross-namespace.ts";
import { toWorkload, type WorkloadObject } from "../rollout/workload.ts";
import { type Cluster, clusterCommand } from "./cluster-command.ts";
import { CommandFailure } from "./command-failure.ts";
import { explainFlags } from "./explain-flags.ts";
import { readHashKeys } from "./explain-keys.ts";
import { readConfigs } from "./explain-read.ts";
import { renderExplanation } from "./explain-text.ts";
import { type Explanation, explainWorkload, withAllReferences } from "./explanation.ts";
import type { FlagValues } from "./parse-flags.ts";
import { printableJson } from "./printable.ts";
import { parseWorkloadArgument, type WorkloadArgument } from "./workload-argument.ts";

/**
 * `wave explain KIND/NAME`: what Wave would do with one workload now and why, from the cluster as it is. Writes nothing
 * there. Resolves with 0, or with 1 after one line where the workload or the cluster cannot be read.
 */
export const explain = clusterCommand({
  name: "explain",
  flags: explainFlags,
  help: async () => (await import("./explain-help.ts")).explainHelp(),
  read: ({ positionals, values, terminal }) => {
    const argument = parseWorkloadArgument(positionals);
    return async (cluster) => {
      const explanation = await explainLive(argument, values, cluster);
      const asJson = values.output === "json";
      terminal.write(asJson ? `${printableJson(explanation)}\n` : renderExplanation(explanation));
      return 0;
    };
  },
});

async function explainLive(
  { kind, resource, name }: WorkloadArgument,
  values: FlagValues<typeof explainFlags>,
  cluster: Cluster,
): Promise<Explanation> {
  const { client } = cluster;
  const namespace = values.namespace ?? cluster.namespace;
  const policy = {
    crossNamespace: values["cross-namespace"],
    namespaces: values.namespaces,
    schedulingGate: values["scheduling-gate"],
    keys: await readHashKeys(client, values["hash-key-secret"]),
  };
  const object = await client
    .request<WorkloadObject>({ method: "GET", path: resourcePath(resource, { namespace, name }) })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      const where = `in namespace "${namespace}" of the cluster of ${cluster.source}`;
      throw new CommandFailure(`there is no ${kind} "${name}" ${where}; --namespace and --context say where to look`);
    });
  const workload = toWorkload(kind, object);
  const read = await readConfigs(client, objectsToRead(withAllReferences(object, workload), policy));
  return explainWorkload(object, workload, read, policy);
}
