// The manager folder: reads the settings, assembles all parts of `wave run`, starts and stops them in order. Knows every folder but cli.
import { hostname } from "node:os";
import type { ClusterConfig } from "../kube/config/cluster-access.ts";
import { loadClusterConfig } from "../kube/config/cluster-config.ts";
import type { Clock } from "../lib/clock.ts";
import type { Notifier } from "../notify/notifier.ts";
import { type Checks, type HttpEndpoint, serveMetrics, serveProbes } from "../telemetry/http-server.ts";
import { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import type { ProcessContext } from "../telemetry/process-context.ts";
import { addProcessMetrics } from "../telemetry/process-metrics.ts";
import { type Assembly, assemble } from "./assemble.ts";
import { electionIdentity } from "./leader-election/leader-election.ts";
import { runAssembly, startRunnable } from "./run-assembly.ts";
import type { Settings } from "./settings.ts";

interface ManagerDependencies extends Pick<ProcessContext, "clock" | "log"> {
  /** Aborted to stop Wave. */
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string | undefined;
  readonly version: string;
}

/** Less than the grace period of 30 s after which Kubernetes kills a Pod, so that the log still names a late shutdown. */
const shutdownTimeoutMs = 25_000;

/**
 * Runs Wave until `signal` is aborted, then stops its parts in reverse order; {@link runAssembly} has the order. Logs problems of
 * the cluster and retries for ever. Rejects with a one-line Error only if a retry cannot help: no usable kubeconfig, a port in
 * use, a bug, or a shutdown that took too long.
 */
export async function runManager(settings: Settings, deps: ManagerDependencies): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([deps.signal, failed.signal]);
  const work = assembleAndRun(settings, deps, signal, (error) => failed.abort(error));
  await withShutdownTimeout({ work, stop: signal, limitMs: shutdownTimeoutMs, clock: deps.clock });
  if (failed.signal.aborted) throw failed.signal.reason;
  deps.log.info("stopped");
}

/** Finds the cluster, assembles the parts and runs them. Calls `onFailure` when a part ends by itself. */
async function assembleAndRun(
  settings: Settings,
  deps: ManagerDependencies,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const { clock, log, version, env, homeDir } = deps;
  const config = await loadClusterConfig({ ...settings.cluster, env, homeDir });
  const metrics = new MetricsRegistry();
  addProcessMetrics(metrics, version);
  const identity = electionIdentity(hostname());
  const notifier = await assembleNotifier(settings, metrics, deps);
  // The limit of the container; a very large number without a limit.
  const memoryLimit = process.constrainedMemory();
  const assembly = await assemble(settings, config, {
    clock,
    log,
    metrics,
    version,
    identity,
    notifier,
    memoryLimit,
  });
  async function* endpoints(): AsyncGenerator<HttpEndpoint> {
    yield* serveEndpoints(settings, metrics, assembly);
    logStart(settings, config, deps);
  }
  const notifications = notifier && startRunnable("notifications", (stop) => notifier.run(stop), onFailure);
  try {
    await runAssembly(assembly, { log, signal, onFailure, endpoints: endpoints() });
  } finally {
    // Last, so that the next leader does not wait until the remaining notifications are sent.
    await notifications?.stop();
  }
}

/** Creates the notifier. Imports its code only if notifications are on. Throws a NotifyFileError if the file is invalid. */
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

/** Starts the servers of metrics and probes that are on, and yields each as soon as it listens. */
async function* serveEndpoints(
  settings: Settings,
  registry: MetricsRegistry,
  { connection, reachability, hashKeys, caches, webhook, elector }: Assembly,
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
  // A process with a blocked event loop answers no probe, which also fails it.
  // A standby is healthy without an API server. A leader is not: it cannot renew the Lease.
  const healthy: Checks =
    elector === undefined ? { "api-server": reachability.problem } : { "leader-election": elector.healthy };
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

/** Settles like `work`, but rejects `limitMs` after `stop`: the process can then log why it is late before Kubernetes kills it. */
export async function withShutdownTimeout(options: {
  readonly work: Promise<void>;
  readonly stop: AbortSignal;
  readonly limitMs: number;
  readonly clock: Clock;
}): Promise<void> {
  const { work, stop, limitMs, clock } = options;
  const limit = Promise.withResolvers<never>();
  let cancel = () => {};
  const onStop = () => {
    const late = new Error(`shutdown took longer than ${limitMs / 1000}s`);
    cancel = clock.timer(limitMs, () => limit.reject(late));
  };
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop, { once: true });
  try {
    await Promise.race([work, limit.promise]);
  } finally {
    cancel();
    stop.removeEventListener("abort", onStop);
  }
}
