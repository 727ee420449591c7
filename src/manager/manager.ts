import { hostname } from "node:os";
import type { ClusterConfig } from "../kube/config/cluster-access.ts";
import { loadClusterConfig } from "../kube/config/cluster-config.ts";
import type { Clock } from "../lib/clock.ts";
import type { Notifier } from "../notify/notifier.ts";
import { type Checks, type HttpEndpoint, serveMetrics, serveProbes } from "../telemetry/http-server.ts";
import type { Logger } from "../telemetry/logging/log.ts";
import { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import { addProcessMetrics } from "../telemetry/process-metrics.ts";
import { type Assembly, assemble } from "./assemble.ts";
import { boundedStop } from "./bounded.ts";
import { electionIdentity } from "./leader-election/leader-election.ts";
import { startPart } from "./parts.ts";
import { runAssembly } from "./run-assembly.ts";
import type { Settings } from "./settings.ts";

/** What the manager has of the world around it. */
export interface ManagerDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborted when it is to stop. */
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly version: string;
}

/** Less than the 30 s after which Kubernetes kills a Pod that was told to stop, so that the log says what was late. */
const stopLimitMs = 25_000;

/**
 * Runs Wave until `signal` is aborted: probes and metrics, then caches, webhook, leader election, workers, and ends them
 * in reverse. What is wrong with the cluster is logged and tried again for ever; rejects, with one line for a person,
 * only where that cannot help: no usable kubeconfig, a port in use, a bug, or a stop that took too long.
 */
export async function runManager(settings: Settings, deps: ManagerDependencies): Promise<void> {
  const failed = new AbortController();
  const over = AbortSignal.any([deps.signal, failed.signal]);
  const work = startAndStop(settings, deps, over, (error) => failed.abort(error));
  await boundedStop({ work, stop: over, limitMs: stopLimitMs, clock: deps.clock });
  if (failed.signal.aborted) throw failed.signal.reason;
  deps.log.info("stopped");
}

/** Finds the cluster, puts the parts together, and runs them. `fail` is told when a part ends by itself. */
async function startAndStop(
  settings: Settings,
  deps: ManagerDependencies,
  over: AbortSignal,
  fail: (error: unknown) => void,
): Promise<void> {
  const { clock, log, version, env, homeDir } = deps;
  const { kubeconfig, context } = settings;
  const config = await loadClusterConfig({
    ...(kubeconfig === undefined ? {} : { kubeconfigFlag: kubeconfig }),
    ...(context === undefined ? {} : { context }),
    env,
    homeDir,
  });
  const metrics = new MetricsRegistry();
  addProcessMetrics(metrics, version);
  const identity = electionIdentity(hostname());
  const notifier = await assembleNotifier(settings, metrics, deps);
  const assembly = await assemble(settings, config, { clock, log, metrics, version, identity, notifier });
  async function* endpoints(): AsyncGenerator<HttpEndpoint> {
    yield* serveEndpoints(settings, metrics, assembly);
    logStart(settings, config, deps);
  }
  const notifying = notifier && startPart("notifications", (signal) => notifier.run(signal), fail);
  try {
    await runAssembly(assembly, { log, over, fail, endpoints: endpoints() });
  } finally {
    // Last: nobody who takes over waits for what is still to be told.
    await notifying?.stop();
  }
}

/** Imported only where it is on. Throws a NotifyFileError where its file cannot be used. */
async function assembleNotifier(
  { notify: file }: Settings,
  metrics: MetricsRegistry,
  { clock, log, version, env }: ManagerDependencies,
): Promise<Notifier | undefined> {
  if (file === undefined) return undefined;
  const { readNotifyFile } = await import("../notify/file/notify-file.ts");
  const { createNotifier } = await import("../notify/notifier.ts");
  return createNotifier({ receivers: await readNotifyFile(file, env), clock, log, metrics, version });
}

/** Metrics and probes, where they are on, each as soon as it listens. */
async function* serveEndpoints(
  settings: Settings,
  registry: MetricsRegistry,
  { connection, hashKeys, caches, webhook, elector }: Assembly,
): AsyncGenerator<HttpEndpoint> {
  const { metricsBindAddress, healthProbeBindAddress } = settings;
  if (metricsBindAddress !== undefined) yield await serveMetrics({ address: metricsBindAddress, registry });
  if (healthProbeBindAddress === undefined) return;
  const ready: Checks = {
    "api-server": connection.problem,
    caches: caches.problem,
    ...(hashKeys && { "hash-key": hashKeys.problem }),
    ...(webhook && { webhook: () => webhook.ready() }),
  };
  // A process whose event loop is stuck answers no probe at all, which fails it too.
  const healthy: Checks = elector === undefined ? {} : { "leader-election": elector.healthy };
  yield await serveProbes({ address: healthProbeBindAddress, ready, healthy, notes: caches.notes, registry });
}

function logStart(settings: Settings, config: ClusterConfig, { log, version }: ManagerDependencies): void {
  log.info(`wave ${version} starting`, {
    cluster: config.server.origin,
    from: config.source,
    namespaces: settings.namespaces?.join(",") ?? "all",
    settings: settings.changed.length > 0 ? settings.changed.join(" ") : undefined,
  });
  for (const line of settings.withoutEffect ?? []) log.warn(line);
}
