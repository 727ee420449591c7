import { parseRunArguments } from "../../src/cli/run/run-arguments.ts";
import { loadClusterConfig } from "../../src/kube/config/cluster-config.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { assemble } from "../../src/manager/assemble.ts";
import { runAssembly } from "../../src/manager/run-assembly.ts";
import { silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { freePort, until } from "../control-plane/wave-process.ts";

/**
 * The ages in this Wave, in milliseconds. An unused copy must be older than any write that is on its way. On a busy machine, a write takes
 * seconds.
 */
const times = { sweepMs: 1_000, afterRolloutMs: 500, waitMs: 30_000, seenMs: 20_000 };

/** A whole Wave in this process, whose unused copies are deleted after half a minute and not after an hour. */
export interface WaveWithShortAges {
  /** Rejects if a part of Wave has failed. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a Wave for one namespace, and resolves when it has read the namespace. The API server calls the webhook at the port that `proxyOf`
 * returns for the port of the webhook.
 */
export async function startWithShortAges(
  { kubeconfig }: Cluster,
  namespace: string,
  {
    webhooks,
    proxyOf = async (port) => port,
    pacing = ["--max-concurrent-rollouts=0"],
  }: {
    readonly webhooks: boolean;
    readonly proxyOf?: (port: number) => Promise<number>;
    /** Default: no batches. */
    readonly pacing?: readonly string[];
  },
): Promise<WaveWithShortAges> {
  const port = await freePort();
  const webhookArgs = [
    "--enable-webhooks",
    `--webhook-bind-address=127.0.0.1:${port}`,
    `--webhook-url=https://127.0.0.1:${webhooks ? await proxyOf(port) : port}`,
    `--webhook-service-name=${namespace}`,
  ];
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--namespaces=${namespace}`,
    "--pin-config",
    "--settle=0",
    ...pacing,
    "--metrics-bind-address=0",
    "--health-probe-bind-address=0",
    ...(webhooks ? webhookArgs : []),
  ];
  const settings = parseRunArguments(args, {});
  const config = await loadClusterConfig({ kubeconfigFlag: kubeconfig, env: {}, homeDir: "/" });
  const assembly = await assemble(settings, config, {
    clock: systemClock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    version: "0",
    identity: namespace,
    collectorTimes: times,
  });
  const stop = new AbortController();
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => {
    failures.push(error);
    stop.abort();
  };
  const running = runAssembly(assembly, { log: silentLogger, signal: stop.signal, onFailure });
  running.catch(onFailure);
  await until("Wave to be ready", async () => {
    if (failures.length > 0) throw failures[0];
    const problem = assembly.caches.problem() ?? (await assembly.webhook?.ready());
    return problem === undefined ? true : undefined;
  });
  return {
    stop: async () => {
      stop.abort();
      await running;
      if (failures.length > 0) throw failures[0];
    },
  };
}
