// How to reach a cluster: kubeconfig, service account and credentials. Makes no request to the API server.
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { isatty } from "node:tty";
import { systemClock } from "../../lib/clock.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { ClusterConfigError } from "../api/api-failure.ts";
import { type ClusterConfig, isCertificate, noCertificate } from "./cluster-access.ts";
import { configErrorTexts } from "./credentials.ts";
import { configWithoutFile, type KubeconfigOptions, loadKubeconfig, readContextNames } from "./kubeconfig.ts";
import type { ConfigOverrides } from "./overrides.ts";

/** The cluster that a person chooses, by flags. */
export interface ChosenCluster {
  /** Value of `--kubeconfig`; empty if not set. */
  readonly kubeconfigFlag?: string | undefined;
  /** Value of `--context`; empty if not set. If set, the ServiceAccount of the Pod is skipped, because it has no contexts. */
  readonly context?: string | undefined;
  /** Values of flags that replace what is configured. With a server, the ServiceAccount of the Pod is skipped, as in kubectl. */
  readonly overrides?: ConfigOverrides;
}

/** Sources of the cluster configuration. */
export interface ClusterConfigOptions extends ChosenCluster {
  /** Environment variables, also for credential plugins. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Undefined: the user has no home directory. */
  readonly homeDir: string | undefined;
  /** Folder of the ServiceAccount in a Pod. */
  readonly inClusterFolder?: string;
  /** Reports whether a credential plugin may prompt on standard input. Default: if that is a terminal. */
  readonly interactive?: boolean;
}

/**
 * Loads the first of: the file of `--kubeconfig`; the files of `$KUBECONFIG`, merged by the rules of kubectl; the
 * ServiceAccount of the Pod; `~/.kube/config`. Only reads files: a credential plugin runs with the first request.
 * @throws ClusterConfigError with one line: the file and the problem.
 */
export async function loadClusterConfig(options: ClusterConfigOptions): Promise<ClusterConfig> {
  const { kubeconfigFlag = "", env, homeDir, interactive = isatty(0), overrides = {} } = options;
  const context = options.context || undefined;
  const surroundings = { context, overrides, env, clock: systemClock, interactive };
  if (kubeconfigFlag !== "") {
    const config = await loadKubeconfig([kubeconfigFlag], surroundings);
    if (config !== undefined) return config;
    throw new ClusterConfigError(configErrorTexts.flagFileNotFound(kubeconfigFlag));
  }
  const files = filesOfVariable(env);
  if (files.length > 0) {
    const config = await loadKubeconfig(files, surroundings);
    if (config !== undefined) return config;
    throw new ClusterConfigError(configErrorTexts.variableFilesNotFound(files.join(", ")));
  }
  const { server } = overrides;
  const pod = context === undefined && server === undefined ? await inCluster(options, surroundings) : undefined;
  if (pod !== undefined && "server" in pod) return pod;
  const home = homeFiles(homeDir);
  const config = await loadKubeconfig(home, surroundings);
  if (config !== undefined) return config;
  if (server !== undefined && context === undefined)
    return configWithoutFile("--server", { cluster: { server } }, surroundings);
  const noFile = home[0] === undefined ? configErrorTexts.noHome : configErrorTexts.noCluster(home[0]);
  throw new ClusterConfigError(pod?.problem ?? noFile);
}

/** Returns the names of the contexts that `--context` can select. @throws ClusterConfigError if a file is invalid. */
export function loadContextNames({
  kubeconfigFlag = "",
  env,
  homeDir,
}: Pick<ClusterConfigOptions, "kubeconfigFlag" | "env" | "homeDir">): Promise<readonly string[]> {
  const files = filesOfVariable(env);
  if (kubeconfigFlag !== "") return readContextNames([kubeconfigFlag]);
  return readContextNames(files.length > 0 ? files : homeFiles(homeDir));
}

function homeFiles(homeDir: string | undefined): readonly string[] {
  return homeDir === undefined ? [] : [join(homeDir, ".kube", "config")];
}

function filesOfVariable({ KUBECONFIG = "" }: ClusterConfigOptions["env"]): readonly string[] {
  return [...new Set(KUBECONFIG.split(delimiter).filter((file) => file !== ""))];
}

/**
 * Returns the configuration of the Pod, undefined outside of Pods, or the problem of its ServiceAccount
 * (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api).
 */
async function inCluster(
  { env, inClusterFolder: folder = "/var/run/secrets/kubernetes.io/serviceaccount" }: ClusterConfigOptions,
  surroundings: KubeconfigOptions,
): Promise<ClusterConfig | { readonly problem: string } | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host || !port) return undefined;
  const [tokenFile, authority] = [join(folder, "token"), join(folder, "ca.crt")];
  try {
    await readFile(tokenFile);
    if (!isCertificate(await readFile(authority, "utf8"))) throw new Error(`ca.crt ${noCertificate}`);
  } catch (error) {
    return { problem: configErrorTexts.noServiceAccount(folder, errorText(error)) };
  }
  const server = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const namespace = await readFile(join(folder, "namespace"), "utf8").catch(() => "");
  const cluster = { server, "certificate-authority": authority };
  const context = { cluster, user: { tokenFile }, namespace: namespace.trim() };
  return configWithoutFile("the ServiceAccount of the Pod", context, surroundings);
}
