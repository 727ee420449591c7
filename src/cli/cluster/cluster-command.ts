import type { ClusterConfig } from "../../kube/config/cluster-access.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { systemClock } from "../../lib/clock.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { type Command, type Terminal, accepting } from "../command/command.ts";
import { type ClusterSource, reportFailure } from "../command/command-failure.ts";
import { exitCodes } from "../command/exit-codes.ts";
import { version } from "../command/version.ts";
import type { ArgumentKind } from "../command/workload-argument.ts";
import { type FlagTable, type FlagValues, type GivenFlag, parseFlags } from "../flags/parse-flags.ts";
import { runFlags } from "../flags/run-flags.ts";

/** The flags that say which cluster is meant. */
export const connectionFlags = { kubeconfig: runFlags.kubeconfig, context: runFlags.context };

/** The cluster that a command speaks to, as whoever calls it. */
export interface Cluster extends ClusterSource {
  readonly client: ApiClient;
  /** The namespace of the context, else "default". */
  readonly namespace: string;
}

/** What a command was called with. */
export interface CommandCall<T extends FlagTable> {
  readonly values: FlagValues<T>;
  /** The flags that were given by argument or variable; the others have their defaults. */
  readonly given: ReadonlyMap<string, GivenFlag>;
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
}

interface Row<T extends FlagTable> {
  readonly name: string;
  readonly flags: T & typeof connectionFlags;
  /** The kinds of the objects that it is given by name; undefined: none. */
  readonly kinds?: readonly ArgumentKind<string>[];
  /** What `--help` prints. */
  readonly help: () => Promise<string>;
  /**
   * Reads the arguments, before the cluster is asked anything; what it returns does the work and resolves with the exit
   * code. Throws a UsageError for a mistake in them.
   */
  readonly read: (called: CommandCall<T & typeof connectionFlags>) => (cluster: Cluster) => Promise<number>;
}

/**
 * A command that speaks to a cluster: ends after one line where the cluster does not answer, refuses, or lacks what is asked
 * for, with the exit code of that.
 */
export function clusterCommand<T extends FlagTable>({ name, flags, kinds, help, read }: Row<T>): Command {
  const command: Command = async (args, terminal) => {
    const parsed = parseFlags(flags, args, terminal.env);
    if (parsed.action !== "run") {
      terminal.write(parsed.action === "help" ? await help() : `wave ${version()}\n`);
      return exitCodes.done;
    }
    const run = read({ ...parsed, terminal });
    let config: ClusterConfig | undefined;
    try {
      config = await clusterConfigOf(parsed.values, terminal);
      return await withCluster(name, config, run);
    } catch (error) {
      const told = reportFailure(error, config);
      if (told === undefined) throw error;
      terminal.writeError(`wave ${name}: ${told.line}\n`);
      return told.code;
    }
  };
  return accepting(command, { flags, kinds });
}

/** The cluster that flags mean. Throws a ClusterConfigError where they mean none. */
export async function clusterConfigOf(
  { kubeconfig, context }: FlagValues<typeof connectionFlags>,
  { env, homeDir }: Terminal,
): Promise<ClusterConfig> {
  const { loadClusterConfig } = await import("../../kube/config/cluster-config.ts");
  return loadClusterConfig({
    ...(kubeconfig === undefined ? {} : { kubeconfigFlag: kubeconfig }),
    ...(context === undefined ? {} : { context }),
    env,
    homeDir,
  });
}

/** Does something with a connection to a cluster, which it ends. */
export async function withCluster(
  name: string,
  config: ClusterConfig,
  run: (cluster: Cluster) => Promise<number>,
): Promise<number> {
  const { createApiClient } = await import("../../kube/http/client.ts");
  const client = createApiClient({
    config,
    clock: systemClock,
    metrics: new MetricsRegistry(),
    userAgent: `wave-${name}/${version()} (${process.platform}/${process.arch})`,
  });
  try {
    const { source, server } = config;
    return await run({ client, namespace: config.namespace ?? "default", source, server });
  } finally {
    await client.close();
  }
}
