import type { ApiClient } from "../kube/client.ts";
import { ApiError, ClusterConfigError, ConnectionError, isNotFound } from "../kube/errors.ts";
import { resourcePath } from "../kube/resources.ts";
import { systemClock } from "../lib/clock.ts";
import { objectsToRead } from "../rollout/cross-namespace.ts";
import type { Policy } from "../rollout/policy/policy.ts";
import { toWorkload, type WorkloadObject } from "../rollout/workload.ts";
import { errorText } from "../telemetry/error-text.ts";
import { MetricsRegistry } from "../telemetry/metrics.ts";
import type { Terminal } from "./command.ts";
import { explainFlags } from "./explain-flags.ts";
import { type ReadHashKeys, readHashKeys } from "./explain-keys.ts";
import { readConfigs } from "./explain-read.ts";
import { explanationAsJson, renderExplanation } from "./explain-text.ts";
import { type Explanation, explainWorkload, withAllReferences } from "./explanation.ts";
import { type FlagValues, parseFlags } from "./parse-flags.ts";
import { version } from "./version.ts";
import { parseWorkloadArgument, type WorkloadArgument } from "./workload-argument.ts";

/**
 * `wave explain KIND/NAME`: what Wave would do with one workload now and why, from the cluster as it is. Writes nothing
 * there. Resolves with 0, or with 1 after one line where the workload or the cluster cannot be read.
 */
export async function explain(args: readonly string[], terminal: Terminal): Promise<number> {
  const parsed = parseFlags(explainFlags, args, terminal.env);
  if (parsed.asks === "help") {
    const { explainHelp } = await import("./explain-help.ts");
    terminal.write(explainHelp());
    return 0;
  }
  if (parsed.asks === "version") {
    terminal.write(`wave ${version()}\n`);
    return 0;
  }
  const argument = parseWorkloadArgument(parsed.positionals);
  try {
    const explanation = await explainLive(argument, parsed.values, terminal);
    const asJson = parsed.values.output === "json";
    terminal.write(asJson ? `${explanationAsJson(explanation)}\n` : renderExplanation(explanation));
    return 0;
  } catch (error) {
    if (!(error instanceof Unexplained) && !isOfCluster(error)) throw error;
    terminal.writeError(`wave explain: ${errorText(error)}\n`);
    return 1;
  }
}

/** What is asked for is not there. */
class Unexplained extends Error {}

function isOfCluster(error: unknown): boolean {
  return error instanceof ApiError || error instanceof ConnectionError || error instanceof ClusterConfigError;
}

type Values = FlagValues<typeof explainFlags>;

async function explainLive(argument: WorkloadArgument, values: Values, terminal: Terminal): Promise<Explanation> {
  const { kubeconfig, context } = values;
  const { loadClusterConfig } = await import("../kube/cluster-config.ts");
  const config = await loadClusterConfig({
    ...(kubeconfig === undefined ? {} : { kubeconfigFlag: kubeconfig }),
    ...(context === undefined ? {} : { context }),
    env: terminal.env,
    homeDir: terminal.homeDir,
  });
  const { createApiClient } = await import("../kube/client.ts");
  const client = createApiClient({
    config,
    clock: systemClock,
    metrics: new MetricsRegistry(),
    userAgent: `wave-explain/${version()} (${process.platform}/${process.arch})`,
  });
  try {
    const namespace = values.namespace ?? config.namespace ?? "default";
    const policy = {
      crossNamespace: values["cross-namespace"],
      namespaces: values.namespaces,
      schedulingGate: values["scheduling-gate"],
      keys: await readHashKeys(client, values["hash-key-secret"]),
    };
    return await explainFrom(client, argument, { namespace, policy, source: config.source });
  } finally {
    await client.close();
  }
}

interface Question {
  readonly namespace: string;
  readonly policy: Omit<Policy, "hashKeys"> & { readonly keys: ReadHashKeys };
  /** Which cluster, for messages. */
  readonly source: string;
}

async function explainFrom(
  client: Pick<ApiClient, "request">,
  { kind, resource, name }: WorkloadArgument,
  { namespace, policy, source }: Question,
): Promise<Explanation> {
  const object = await client
    .request<WorkloadObject>({ method: "GET", path: resourcePath(resource, { namespace, name }) })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      const where = `in namespace "${namespace}" of the cluster of ${source}`;
      throw new Unexplained(`there is no ${kind} "${name}" ${where}; --namespace and --context say where to look`);
    });
  const workload = toWorkload(kind, object);
  const read = await readConfigs(client, objectsToRead(withAllReferences(object, workload), policy));
  return explainWorkload(object, workload, read, policy);
}
