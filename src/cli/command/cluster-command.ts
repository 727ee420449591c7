import type { ClusterConfig } from "../../kube/config/cluster-access.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { systemClock } from "../../lib/clock.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { connectionFlags } from "../flags/connection-flags.ts";
import { type FlagTable, type FlagValues, type GivenFlag, parseFlags } from "../flags/parse-flags.ts";
import { UsageError } from "../flags/usage-error.ts";
import { accepting, type Command, type Terminal } from "./command.ts";
import { type ClusterSource, reportFailure } from "./command-failure.ts";
import { exitCodes, sharedExitCodes } from "./exit-codes.ts";
import { type CommandHelp, renderHelp } from "./help.ts";
import { errorLine } from "./messages.ts";
import { version } from "./version.ts";
import type { ArgumentKind } from "./workload-argument.ts";

/** A connection to a cluster with the credentials of the user. */
export interface Cluster extends ClusterSource {
  readonly client: ApiClient;
  /** The namespace of the context; otherwise "default". */
  readonly namespace: string;
}

export interface CommandCall<T extends FlagTable> {
  readonly values: FlagValues<T>;
  /** The flags that an argument or a variable sets; all other flags have their defaults. */
  readonly given: ReadonlyMap<string, GivenFlag>;
  readonly positionals: readonly string[];
  readonly terminal: Terminal;
}

interface Row<T extends FlagTable> {
  readonly name: string;
  readonly flags: T & typeof connectionFlags;
  /** The kinds of object that the command takes by name; undefined if it takes no object. */
  readonly kinds?: readonly ArgumentKind<string>[];
  /** The help, without the exit codes that all cluster commands share. */
  readonly help: CommandHelp;
  /** Returns the error about an argument that is no flag; undefined if the command takes such arguments. */
  readonly surplus?: (argument: string) => string;
  /**
   * Reads the arguments before any request. The returned function does the work and resolves with the exit code. Throws a UsageError
   * for an invalid argument.
   */
  readonly read: (called: CommandCall<T & typeof connectionFlags>) => (cluster: Cluster) => Promise<number>;
}

/**
 * Builds a command that talks to a cluster. If the cluster is unreachable, denies access, or lacks the requested object, the command
 * writes one error line and ends with the exit code of that failure.
 */
export function clusterCommand<T extends FlagTable>({ name, flags, kinds, help, surplus, read }: Row<T>): Command {
  const command: Command = async (args, terminal) => {
    const parsed = parseFlags(flags, args, terminal.env);
    if (parsed.action !== "run") {
      const whole = { ...help, exits: { ...help.exits, ...sharedExitCodes } };
      terminal.write(parsed.action === "help" ? renderHelp(whole, flags, parsed.scope) : `wave ${version()}\n`);
      return exitCodes.done;
    }
    const [argument] = parsed.positionals;
    if (argument !== undefined && surplus !== undefined) throw new UsageError(surplus(argument));
    const run = read({ ...parsed, terminal });
    let config: ClusterConfig | undefined;
    try {
      config = await clusterConfigOf(parsed.values, terminal);
      return await withCluster(name, config, run);
    } catch (error) {
      const failure = reportFailure(error, config);
      if (failure === undefined) throw error;
      terminal.writeError(errorLine(failure.line));
      return failure.code;
    }
  };
  return accepting(command, { flags, kinds });
}

/** Loads the configuration of the cluster that the flags select. Throws a ClusterConfigError if there is no such cluster. */
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

/** Opens a connection to a cluster, calls `run` with it, and closes it. `name` becomes part of the user agent. */
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
