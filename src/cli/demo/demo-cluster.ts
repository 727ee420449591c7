import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxOptions } from "../../../sandbox/sandbox.ts";
import { ConnectionError, isForbidden, isNotFound, isUnauthorized } from "../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ClusterConfig } from "../../kube/config/cluster-access.ts";
import { loadClusterConfig } from "../../kube/config/cluster-config.ts";
import { type ApiClient, createApiClient } from "../../kube/http/client.ts";
import { sleep, systemClock } from "../../lib/clock.ts";
import { runManager } from "../../manager/manager.ts";
import { type Runnable, startRunnable } from "../../manager/run-assembly.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { type Terminal, version } from "../command/command.ts";
import type { Environment } from "../flags/parse-flags.ts";
import { parseRunArguments } from "../run/run-arguments.ts";

/** The cluster and the namespace in which the demo runs. */
export interface DemoCluster {
  readonly client: ApiClient;
  readonly namespace: string;
  /** Where the demo runs, for people, in lines. */
  readonly description: readonly string[];
  /** The flags with which Wave watches this namespace only. */
  readonly waveFlags: readonly string[];
  /** The flags with which kubectl reaches the cluster. */
  readonly kubectlFlags: readonly string[];
  /** The flags for the namespace; empty if it is the default namespace. */
  readonly namespaceFlags: readonly string[];
  /** The time limit of one step, in milliseconds. A real cluster pulls images. */
  readonly stepMs: number;
  /** Removes everything that the demo created. Rejects with one line that names the leftovers and the command that removes them. */
  readonly close: () => Promise<void>;
}

/** The options of {@link openSandbox} and {@link openNamespace}. */
export interface DemoClusterOptions {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly env: Environment;
  readonly homeDir: string | undefined;
  readonly signal: AbortSignal;
}

/** Starts a sandbox API server in this process and writes its kubeconfig into a temporary folder. */
export async function openSandbox(
  options: DemoClusterOptions,
  behaviour: Pick<SandboxOptions, "podDelayMs" | "crashes"> = {},
): Promise<DemoCluster & { readonly config: ClusterConfig }> {
  const { startSandbox } = await import("../../../sandbox/sandbox.ts");
  const sandbox = await startSandbox(behaviour);
  const folder = await mkdtemp(join(tmpdir(), "wave-demo-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(sandbox.kubeconfig(), undefined, 2), { mode: 0o600 });
  const config = await loadClusterConfig({ ...options, context: "sandbox", kubeconfigFlag: kubeconfig });
  const client = clientOf(config);
  return {
    client,
    config,
    namespace: "default",
    description: ["The demo runs on a small Kubernetes API server inside this process. No real cluster is used."],
    waveFlags: [`--kubeconfig=${kubeconfig}`],
    kubectlFlags: ["--kubeconfig", kubeconfig],
    namespaceFlags: [],
    stepMs: 60_000,
    close: async () => {
      await client.close();
      await sandbox.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a namespace in a real cluster. Rejects with one line if the cluster is unreachable or denies access. */
export async function openNamespace(options: DemoClusterOptions): Promise<DemoCluster> {
  const { kubeconfig, context, env, homeDir, signal } = options;
  const config = await loadClusterConfig({ kubeconfigFlag: kubeconfig, context, env, homeDir });
  const client = clientOf(config);
  const namespace = `wave-demo-${randomUUID().slice(0, 6)}`;
  try {
    await reach(client, config, signal);
    signal.throwIfAborted();
    // Without the signal: an interrupted request would leave open whether the namespace exists.
    await createNamespace(client, namespace);
  } catch (error) {
    await client.close();
    throw error;
  }
  const kubeconfigFlags = kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig];
  const contextFlags = context === undefined ? [] : ["--context", context];
  const flags = [...kubeconfigFlags, ...contextFlags];
  return {
    client,
    namespace,
    description: [
      `The demo runs on ${config.server.origin} (${config.source}),`,
      `in namespace ${namespace}, which is removed at the end.`,
    ],
    waveFlags: [...flags, "--namespaces", namespace],
    kubectlFlags: flags,
    namespaceFlags: ["-n", namespace],
    stepMs: 120_000,
    close: async () => {
      try {
        await removeNamespace(client, namespace);
      } catch (error) {
        const command = ["kubectl", ...flags, "delete", "namespace", namespace].join(" ");
        throw new Error(`namespace ${namespace} may still exist; to remove it, run: ${command} (${errorText(error)})`);
      } finally {
        await client.close();
      }
    },
  };
}

function clientOf(config: ClusterConfig): ApiClient {
  return createApiClient({ config, clock: systemClock, userAgent: `wave-demo/${version()}` });
}

/** Checks that the server answers and accepts the credentials, before the demo creates anything. */
async function reach(client: ApiClient, { server }: ClusterConfig, signal: AbortSignal): Promise<void> {
  try {
    await client.request({ method: "GET", path: "/version", timeoutMs: 10_000, signal });
  } catch (error) {
    if (isForbidden(error)) return;
    if (error instanceof ConnectionError) throw new Error(`cannot reach API server ${server.origin}`, { cause: error });
    if (!isUnauthorized(error)) throw error;
    throw new Error(`API server ${server.origin} rejects the credentials`, { cause: error });
  }
}

async function createNamespace(client: ApiClient, name: string): Promise<void> {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  try {
    await client.request({ method: "POST", path: resourcePath(resources.namespaces), body });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new Error(`you do not have permission to create a namespace, which the demo needs`, { cause: error });
  }
}

/** Deletes the namespace. Resolves when it is gone with everything in it. */
async function removeNamespace(client: ApiClient, name: string): Promise<void> {
  const path = resourcePath(resources.namespaces, { name });
  const limitMs = 120_000;
  const from = systemClock.monotonic();
  try {
    await client.request<KubeObject>({ method: "DELETE", path });
    while (systemClock.monotonic() - from < limitMs) {
      await client.request<KubeObject>({ method: "GET", path });
      await sleep(systemClock, 250);
    }
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  throw new Error(`the deletion takes longer than ${limitMs / 1000} s`);
}

/** Starts Wave in this process, like `wave run` without ports, until the part is stopped. `onFailure` receives an earlier error. */
export function startWave(
  flags: readonly string[],
  terminal: Terminal,
  log: Logger,
  onFailure: (error: unknown) => void,
): Runnable {
  const withoutPorts = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
  // A person watches, so edits neither settle nor wait for earlier rollouts.
  const atOnce = ["--settle=0", "--max-concurrent-rollouts=0"];
  // Without the environment: the demo must not depend on variables for `wave run`.
  const settings = parseRunArguments([...withoutPorts, ...atOnce, ...flags], {});
  const { env, homeDir } = terminal;
  const deps = { clock: systemClock, log, env, homeDir, version: version() };
  return startRunnable("Wave", (signal) => runManager(settings, { ...deps, signal }), onFailure);
}
