import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { ConnectionError, isForbidden, isNotFound, isUnauthorized } from "../../kube/api/errors.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import type { ClusterConfig } from "../../kube/config/cluster-access.ts";
import { loadClusterConfig } from "../../kube/config/cluster-config.ts";
import { type ApiClient, createApiClient } from "../../kube/http/client.ts";
import { type Clock, sleep } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import type { Environment } from "../flags/parse-flags.ts";

/** Where the story happens. */
export interface DemoCluster {
  readonly client: ApiClient;
  readonly namespace: string;
  /** For people: where this is, in lines. */
  readonly description: readonly string[];
  /** The flags by which Wave finds this place, and nothing else. */
  readonly waveFlags: readonly string[];
  /** The flags by which kubectl does, and by which it finds the namespace where that is not its default. */
  readonly kubectlFlags: readonly string[];
  readonly namespaceFlags: readonly string[];
  /** How long a step may take, in milliseconds: images have to be pulled in a real cluster. */
  readonly stepMs: number;
  /** Removes what was made. Rejects with one line that says what is left and how to remove it. */
  readonly close: () => Promise<void>;
}

/** What a stage is made from. */
export interface DemoClusterOptions {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly env: Environment;
  readonly homeDir: string;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly signal: AbortSignal;
}

/** A sandbox in this process, with a kubeconfig for it in a temporary folder. */
export async function openSandbox({ clock, userAgent, ...options }: DemoClusterOptions): Promise<DemoCluster> {
  const { startSandbox } = await import("../../../sandbox/sandbox.ts");
  const sandbox = await startSandbox();
  const folder = await mkdtemp(join(tmpdir(), "wave-demo-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(sandbox.kubeconfig(), undefined, 2), { mode: 0o600 });
  const config = await loadClusterConfig({ ...options, context: "sandbox", kubeconfigFlag: kubeconfig });
  const client = createApiClient({ config, clock, userAgent, metrics: new MetricsRegistry() });
  return {
    client,
    namespace: "default",
    description: ["Here it runs beside a small Kubernetes API server inside this process; no cluster is touched."],
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

/** A namespace of its own in a real cluster. Rejects, in one line, where the cluster is not there or refuses it. */
export async function openNamespace(options: DemoClusterOptions): Promise<DemoCluster> {
  const { kubeconfig, context, env, homeDir, clock, userAgent, signal } = options;
  const config = await loadClusterConfig({
    env,
    homeDir,
    ...(kubeconfig !== undefined && { kubeconfigFlag: kubeconfig }),
    ...(context !== undefined && { context }),
  });
  const client = createApiClient({ config, clock, userAgent, metrics: new MetricsRegistry() });
  const namespace = `wave-demo-${randomUUID().slice(0, 6)}`;
  try {
    await reach(client, config, signal);
    signal.throwIfAborted();
    // Not given up on when interrupted: whether it was made must be known.
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
      `Here it runs on ${config.server.origin} (${config.source}),`,
      `in namespace ${namespace}, which is removed at the end.`,
    ],
    waveFlags: [...flags, "--namespaces", namespace],
    kubectlFlags: flags,
    namespaceFlags: ["-n", namespace],
    stepMs: 120_000,
    close: async () => {
      try {
        await removeNamespace(client, namespace, clock);
      } catch (error) {
        const command = ["kubectl", ...flags, "delete", "namespace", namespace].join(" ");
        throw new Error(`namespace ${namespace} may be left, "${command}" removes it: ${errorText(error)}`);
      } finally {
        await client.close();
      }
    },
  };
}

/** One answer of the server, before anything is asked of it. */
async function reach(client: ApiClient, { server }: ClusterConfig, signal: AbortSignal): Promise<void> {
  try {
    await client.request({ method: "GET", path: "/version", timeoutMs: 10_000, signal });
  } catch (error) {
    if (isForbidden(error)) return;
    if (error instanceof ConnectionError)
      throw new Error(`the API server ${server.origin} cannot be reached`, { cause: error });
    if (!isUnauthorized(error)) throw error;
    throw new Error(`the API server ${server.origin} does not accept the credentials`, { cause: error });
  }
}

async function createNamespace(client: ApiClient, name: string): Promise<void> {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  try {
    await client.request({ method: "POST", path: resourcePath(resources.namespaces), body });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new Error(`the demo needs to create a namespace, and this user may not`, { cause: error });
  }
}

/** Resolves when the namespace and all in it are gone. */
async function removeNamespace(client: ApiClient, name: string, clock: Clock): Promise<void> {
  const path = resourcePath(resources.namespaces, { name });
  const limitMs = 120_000;
  const from = clock.monotonic();
  try {
    await client.request<KubeObject>({ method: "DELETE", path });
    while (clock.monotonic() - from < limitMs) {
      await client.request<KubeObject>({ method: "GET", path });
      await sleep(clock, 250);
    }
  } catch (error) {
    if (isNotFound(error)) return;
    throw error;
  }
  throw new Error(`it is being deleted for more than ${limitMs / 1000} s`);
}
