import { readFile } from "node:fs/promises";
import { parseYaml, Section } from "../../lib/yaml-mapping.ts";
import { errorText } from "../../telemetry/logging/log-messages.ts";
import { ClusterConfigError } from "../api/api-failure.ts";
import { type ClusterConfig, readTls } from "./cluster-access.ts";
import { configErrorTexts, readAgain } from "./credentials.ts";
import type { ExecContext } from "./exec-plugin.ts";
import { impersonationHeaders, userCredentials } from "./kubeconfig-user.ts";
import {
  type ConfigOverrides,
  overrideCluster,
  overrideUser,
  parseProxyUrl,
  proxyFromEnvironment,
} from "./overrides.ts";

/** How to read a kubeconfig. */
export interface KubeconfigOptions extends ExecContext {
  /** Undefined: the current context. */
  readonly context: string | undefined;
  readonly overrides?: ConfigOverrides;
}

/**
 * Loads the cluster, user and namespace of a context. If several files define a name, the first definition is used. Skips
 * files that do not exist. Returns undefined if no file exists.
 * @throws ClusterConfigError with one line: the file, the path in it and the problem.
 */
export async function loadKubeconfig(
  files: readonly string[],
  options: KubeconfigOptions,
): Promise<ClusterConfig | undefined> {
  const found = await readSections(files);
  return found.length === 0 ? undefined : clusterOf(merge(found), options);
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the configuration of a cluster that is in no kubeconfig, from the fields that it would have there. `source` is for messages. */
export async function configWithoutFile(
  source: string,
  { cluster, user = {}, namespace }: { readonly cluster: Fields; readonly user?: Fields; readonly namespace?: string },
  options: KubeconfigOptions,
): Promise<ClusterConfig> {
  const mistake = (message: string) => new ClusterConfigError(message);
  const fields = {
    "current-context": "none",
    clusters: [{ name: "none", cluster }],
    users: [{ name: "none", user }],
    contexts: [{ name: "none", context: { cluster: "none", user: "none", namespace } }],
  };
  const kubeconfig = merge([new Section(fields, { file: source, mistake }, "")]);
  return { ...(await clusterOf(kubeconfig, options)), source };
}

/** Returns the names of the contexts of files, in their order. Skips files that do not exist. @throws ClusterConfigError if a file is invalid. */
export async function readContextNames(files: readonly string[]): Promise<readonly string[]> {
  return [...merge(await readSections(files)).contexts.keys()];
}

async function readSections(files: readonly string[]): Promise<readonly Section[]> {
  const sections = await Promise.all(files.map(readKubeconfigFile));
  return sections.filter((section) => section !== undefined);
}

/** Merges several files: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files. */
function merge(sections: readonly Section[]) {
  const first = (list: string, field: string) => {
    const named = new Map<string, Section>();
    for (const section of sections) {
      for (const entry of section.sections(list)) {
        const name = entry.text("name");
        if (name === undefined) throw entry.wrong("name", "is missing");
        const place = `${list}[${name}]`;
        const content = entry.at(place).section(field) ?? section.of({}, `${place}.${field}`);
        if (!named.has(name)) named.set(name, content);
      }
    }
    return named;
  };
  return {
    /** File names, for messages. */
    files: sections.map(({ file }) => file).join(", "),
    currentContext: sections.map((section) => section.text("current-context")).find((name) => name !== undefined),
    clusters: first("clusters", "cluster"),
    contexts: first("contexts", "context"),
    users: first("users", "user"),
  };
}

async function clusterOf(kubeconfig: ReturnType<typeof merge>, options: KubeconfigOptions): Promise<ClusterConfig> {
  const { files, contexts, clusters, users } = kubeconfig;
  const name = options.context ?? kubeconfig.currentContext;
  const { overrides = {} } = options;
  const { server: otherServer } = overrides;
  if (name === undefined && otherServer !== undefined)
    return configWithoutFile("--server", { cluster: { server: otherServer } }, options);
  const choice = contexts.size === 0 ? "the file has no contexts" : `available: ${[...contexts.keys()].join(", ")}`;
  if (name === undefined) throw new ClusterConfigError(configErrorTexts.noContext(files, choice));
  const context = contexts.get(name);
  if (context === undefined) throw new ClusterConfigError(configErrorTexts.contextNotFound(files, name, choice));
  const ownCluster = referred(context, "cluster", clusters, files);
  if (ownCluster === undefined) throw context.wrong("cluster", "is missing");
  const cluster = overrideCluster(ownCluster, overrides);
  const user = overrideUser(referred(context, "user", users, files) ?? context.of({}, "user"), overrides);

  const tls = readAgain(options.clock, () => readTls(cluster, user));
  const { ca } = await tls.current();
  const server = serverOf(cluster);
  return {
    server,
    namespace: context.text("namespace"),
    source: `context ${name} of ${context.file}`,
    tls,
    proxy: proxyOf(cluster) ?? proxyFromEnvironment(server, options.env),
    impersonation: impersonationHeaders(user),
    credentials: userCredentials(user, cluster, ca, options),
  };
}

function referred(
  context: Section,
  field: "cluster" | "user",
  named: ReadonlyMap<string, Section>,
  files: string,
): Section | undefined {
  const name = context.text(field);
  if (name === undefined) return undefined;
  const section = named.get(name);
  if (section === undefined) throw context.wrong(field, `is ${name}, but ${files} has no ${field} with this name`);
  return section;
}

/** Returns the proxy of a cluster; undefined if it has none of its own. Like in kubectl, `NO_PROXY` does not apply to it. */
function proxyOf(cluster: Section): URL | undefined {
  const text = cluster.text("proxy-url");
  if (text === undefined) return undefined;
  const proxy = parseProxyUrl(text);
  // The text may contain a password.
  if (proxy === undefined) {
    throw cluster.wrong(
      "proxy-url",
      "is not the URL of a proxy; use http://, https:// or socks5:// with a host and a port",
    );
  }
  return proxy;
}

function serverOf(cluster: Section): URL {
  const server = cluster.text("server");
  if (server === undefined) throw cluster.wrong("server", "is missing");
  const url = URL.parse(server);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw cluster.wrong("server", `is ${server}; use a URL such as https://10.0.0.1:6443`);
  }
  return url;
}

/** Reads a kubeconfig file; undefined if it does not exist. @throws ClusterConfigError if it is unreadable or not YAML. */
async function readKubeconfigFile(file: string): Promise<Section | undefined> {
  const mistake = (message: string) => new ClusterConfigError(message);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new ClusterConfigError(configErrorTexts.kubeconfigUnreadable(file, errorText(error)));
  }
  const parsed = await parseYaml(text, (what) => mistake(`kubeconfig ${file} ${what}`));
  return new Section(parsed, { file, mistake }, "");
}
