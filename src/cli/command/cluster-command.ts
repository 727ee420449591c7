import { apiFailureOf, retryAfterMs } from "../../kube/api/api-failure.ts";
import type { ClusterConfig } from "../../kube/config/cluster-access.ts";
import type { ChosenCluster } from "../../kube/config/cluster-config.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { type Clock, longestTimerMs, sleep, systemClock } from "../../lib/clock.ts";
import { chosenCluster, type connectionFlags } from "../flags/connection-flags.ts";
import type { FlagTable, FlagValues } from "../flags/parse-flags.ts";
import {
  type ClusterSource,
  type Command,
  errorLine,
  reportFailure,
  sharedExitCodes,
  type Terminal,
  version,
} from "./command.ts";
import { type CommandCall, type CommandHelp, type FlagCommandRow, flagCommand } from "./help.ts";

/** A connection to a cluster with the credentials of the user. */
export interface Cluster extends ClusterSource {
  readonly client: ApiClient;
  /** The namespace of the context; otherwise "default". */
  readonly namespace: string;
}

/** The work of a command, which resolves with the exit code. Some arguments need no cluster, or several. */
type ClusterWork = ((cluster: Cluster) => Promise<number>) | { readonly withoutCluster: () => Promise<number> };

interface ClusterCommandRow<T extends FlagTable>
  extends Pick<FlagCommandRow<T & typeof connectionFlags>, "flags" | "kinds" | "surplus"> {
  readonly name: string;
  /** The help, without the exit codes that all cluster commands share. */
  readonly help: CommandHelp;
  /** Reads the arguments before any request. The returned function does the work. Throws a UsageError for an invalid argument. */
  readonly read: (call: CommandCall<T & typeof connectionFlags>) => ClusterWork;
}

/** Builds a command that talks to a cluster. An expected failure of a request becomes one error line and its exit code. */
export function clusterCommand<T extends FlagTable>({ name, help, read, ...row }: ClusterCommandRow<T>): Command {
  return flagCommand({
    ...row,
    help: { ...help, exits: { ...sharedExitCodes, ...help.exits } },
    run: async (call) => {
      const run = read(call);
      if ("withoutCluster" in run) return run.withoutCluster();
      const values: FlagValues<typeof connectionFlags> = call.values;
      let config: ClusterConfig | undefined;
      try {
        config = await loadCluster(chosenCluster(values), call.terminal);
        return await withCluster(name, config, run, values);
      } catch (error) {
        const failure = reportFailure(error, config);
        if (failure === undefined) throw error;
        call.terminal.writeError(errorLine(failure.line));
        return failure.code;
      }
    },
  });
}

/** Loads the configuration of a cluster. Throws a ClusterConfigError if there is no such cluster. */
export async function loadCluster(cluster: ChosenCluster, { env, homeDir }: Terminal): Promise<ClusterConfig> {
  const { loadClusterConfig } = await import("../../kube/config/cluster-config.ts");
  return loadClusterConfig({ ...cluster, env, homeDir });
}

type ConnectionLimits = Partial<Pick<FlagValues<typeof connectionFlags>, "request-timeout">>;

/** Opens a connection to a cluster, calls `run` with it, and closes it. `name` becomes part of the user agent. */
export async function withCluster<T>(
  name: string,
  config: ClusterConfig,
  run: (cluster: Cluster) => Promise<T>,
  limits: ConnectionLimits = {},
): Promise<T> {
  const cluster = await openCluster(name, config, limits);
  try {
    return await run(cluster);
  } finally {
    await cluster.client.close();
  }
}

/** Returns a connection to a cluster, without a request. The caller closes its client. `name` becomes part of the user agent. */
export async function openCluster(
  name: string,
  config: ClusterConfig,
  { "request-timeout": timeoutMs }: ConnectionLimits,
): Promise<Cluster> {
  const { createApiClient } = await import("../../kube/http/client.ts");
  const client = createApiClient({
    config,
    clock: systemClock,
    userAgent: `wave-${name}/${version()} (${process.platform}/${process.arch})`,
  });
  const { source, server } = config;
  return {
    client: retryingClient(client, systemClock, timeoutMs),
    namespace: config.namespace ?? "default",
    source,
    server,
  };
}

/** Time after the first busy response in which a command sends requests again, in milliseconds. */
const retryForMs = 30_000;
/** Wait after a 429 without Retry-After, in milliseconds. */
const defaultWaitMs = 1_000;

/**
 * Returns a client that waits and sends a request again while the API server is busy, as kubectl does. All requests together retry for at
 * most 30 s, and a request with a time limit not longer than that. Never repeats a write that the API server may have executed.
 * `requestTimeoutMs` limits each request that has no limit of its own; 0: no limit; undefined: the limit of the client.
 */
export function retryingClient(client: ApiClient, clock: Clock, requestTimeoutMs?: number): ApiClient {
  const limited = (request: ApiRequest): ApiRequest =>
    requestTimeoutMs === undefined ? request : { timeoutMs: requestTimeoutMs || longestTimerMs, ...request };
  let until: number | undefined;
  const retry = async <T>({ method, timeoutMs, signal }: ApiRequest, send: () => Promise<T>): Promise<T> => {
    const ownUntil = clock.monotonic() + (timeoutMs ?? retryForMs);
    for (;;) {
      try {
        return await send();
      } catch (error) {
        const waitMs = waitMsOf(method, error);
        if (waitMs === undefined) throw error;
        until ??= clock.monotonic() + retryForMs;
        if (clock.monotonic() + waitMs > Math.min(until, ownUntil)) throw error;
        await sleep(clock, waitMs, signal);
      }
    }
  };
  return {
    ...client,
    request: (request) => retry(request, () => client.request(limited(request))),
    stream: (request) => retry(request, () => client.stream(limited(request))),
  };
}

/** Returns the wait before the next try; undefined if a retry is no help, or could write twice. */
function waitMsOf(method: ApiRequest["method"], error: unknown): number | undefined {
  const failure = apiFailureOf(error);
  if (failure?.type === "tooManyRequests") return retryAfterMs(error) || defaultWaitMs;
  const mayRepeat = failure?.type === "unavailable" && (method === "GET" || !failure.mayBeDone);
  return mayRepeat ? retryAfterMs(error) || undefined : undefined;
}
