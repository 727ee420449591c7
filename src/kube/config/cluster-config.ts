import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { isatty } from "node:tty";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/error-text.ts";
import { ClusterConfigError } from "../api/errors.ts";
import type { ClusterConfig } from "./cluster-access.ts";
import { tokenFileCredentials } from "./credentials.ts";
import { loadKubeconfig } from "./kubeconfig.ts";

/** Where to look for a cluster. */
export interface ClusterConfigOptions {
  /** The value of `--kubeconfig`; empty: not given. */
  readonly kubeconfigFlag?: string;
  /** The value of `--context`; empty: not given. A Pod's service account has no contexts and is then passed over. */
  readonly context?: string;
  /** The environment; also that of credential plugins. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** Where a Pod finds its service account. */
  readonly inClusterFolder?: string;
  readonly clock?: Clock;
  /** Whether a credential plugin may ask a person on standard input; default: where that is a terminal. */
  readonly interactive?: boolean;
}

/**
 * The first of: the file of `--kubeconfig`; those of `$KUBECONFIG`, merged by kubectl's rules; the Pod's service account;
 * `~/.kube/config`. Reads files and runs nothing: a credential plugin runs with the first request.
 * @throws ClusterConfigError in one line: where it looked, what is wrong there.
 */
export async function loadClusterConfig(options: ClusterConfigOptions): Promise<ClusterConfig> {
  const { kubeconfigFlag = "", env, homeDir, clock = systemClock, interactive = isatty(0) } = options;
  const context = options.context || undefined;
  const surroundings = { context, env, clock, interactive };
  if (kubeconfigFlag !== "") {
    const config = await loadKubeconfig([kubeconfigFlag], surroundings);
    if (config !== undefined) return config;
    throw new ClusterConfigError(`--kubeconfig: there is no file ${kubeconfigFlag}`);
  }
  const files = [...new Set((env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== ""))];
  if (files.length > 0) {
    const config = await loadKubeconfig(files, surroundings);
    if (config !== undefined) return config;
    throw new ClusterConfigError(`$KUBECONFIG: there is no file ${files.join(" and no file ")}`);
  }
  const pod = context === undefined ? await inCluster(options, clock) : undefined;
  if (pod?.config !== undefined) return pod.config;
  const home = join(homeDir, ".kube", "config");
  const config = await loadKubeconfig([home], surroundings);
  if (config !== undefined) return config;
  throw new ClusterConfigError(
    pod?.problem ??
      `no cluster is configured: $KUBECONFIG is not set, this is no Pod, and there is no ${home}; give --kubeconfig FILE`,
  );
}

interface PodConfig {
  readonly config?: ClusterConfig;
  readonly problem?: string;
}

/** https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api */
async function inCluster({ env, inClusterFolder }: ClusterConfigOptions, clock: Clock): Promise<PodConfig | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) return undefined;
  const folder = inClusterFolder ?? "/var/run/secrets/kubernetes.io/serviceaccount";
  try {
    await readFile(join(folder, "token"));
    const ca = await readFile(join(folder, "ca.crt"), "utf8");
    const namespace = await readFile(join(folder, "namespace"), "utf8").catch(() => "");
    const config: ClusterConfig = {
      server: new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`),
      namespace: namespace.trim() || undefined,
      source: "the Pod's service account",
      tls: { ca, insecure: false },
      credentials: tokenFileCredentials(join(folder, "token"), clock),
    };
    return { config };
  } catch (error) {
    const hint = "is automountServiceAccountToken off?";
    return { problem: `in a Pod, but its service account in ${folder} cannot be read, ${hint}: ${errorText(error)}` };
  }
}
