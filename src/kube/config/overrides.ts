import { BlockList, isIP } from "node:net";
import type { Section } from "../../lib/yaml-mapping.ts";
import { ClusterConfigError } from "../api/api-failure.ts";
import { configErrorTexts } from "./credentials.ts";

/**
 * Values of flags that replace fields of the kubeconfig, with the rules of client-go
 * (https://pkg.go.dev/k8s.io/client-go/tools/clientcmd#ConfigOverrides).
 */
export interface ConfigOverrides {
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly as?: string | undefined;
  readonly asGroups?: readonly string[] | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
}

/** Returns a cluster of the kubeconfig with overrides. The expected name and the authorities belong to the replaced server and check. */
export function overrideCluster(cluster: Section, { server, insecureSkipTlsVerify }: ConfigOverrides): Section {
  return cluster.with({
    ...(server !== undefined && { server, "tls-server-name": undefined }),
    ...(insecureSkipTlsVerify && {
      "insecure-skip-tls-verify": true,
      "certificate-authority": undefined,
      "certificate-authority-data": undefined,
    }),
  });
}

/** Returns a user of the kubeconfig with overrides. @throws ClusterConfigError for groups without a user to impersonate. */
export function overrideUser(user: Section, { token, as, asGroups }: ConfigOverrides): Section {
  if (asGroups !== undefined && as === undefined && !user.has("as"))
    throw new ClusterConfigError(configErrorTexts.groupWithoutUser);
  return user.with({
    ...(token !== undefined && { token, tokenFile: undefined }),
    ...(as !== undefined && { as }),
    ...(asGroups !== undefined && { "as-groups": asGroups }),
  });
}

const protocols = ["http:", "https:", "socks5:", "socks5h:"];

/** Returns the URL of a proxy. Undefined if the text is not one with a supported protocol. */
export function parseProxyUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null && protocols.includes(url.protocol) && url.hostname !== "" ? url : undefined;
}

/**
 * Returns the proxy for a server by the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, with the rules of Go and so of
 * kubectl (https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config). Undefined: connect without a proxy.
 * @throws ClusterConfigError that names the variable if its value is not a proxy.
 */
export function proxyFromEnvironment(server: URL, env: Readonly<Record<string, string | undefined>>): URL | undefined {
  const name = server.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = env[name] || env[name.toLowerCase()];
  if (!value || isExcluded(server, env.NO_PROXY || env.no_proxy || "")) return undefined;
  const proxy = parseProxyUrl(value.includes("://") ? value : `http://${value}`);
  if (proxy === undefined) throw new ClusterConfigError(configErrorTexts.invalidProxy(name));
  return proxy;
}

/** Reports whether a server gets no proxy: it is on this machine, or an entry of `NO_PROXY` matches it. */
function isExcluded(server: URL, noProxy: string): boolean {
  const host = server.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const port = server.port || (server.protocol === "https:" ? "443" : "80");
  if (host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))) return true;
  const entries = noProxy.split(",").map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry === "*" || (entry !== "" && matches(entry, host, port)));
}

function matches(entry: string, host: string, port: string): boolean {
  const [network = "", prefix] = entry.split("/");
  if (prefix !== undefined)
    return isIP(network) !== 0 && isIP(host) !== 0 && isInNetwork(host, network, Number(prefix));
  const [, name = "", entryPort] = isIP(entry) === 0 ? (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []) : ["", entry];
  if (entryPort !== undefined && entryPort !== port) return false;
  const bare = name.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return bare === host;
  const domain = bare.replace(/^\*/, "");
  return domain.startsWith(".") ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
}

function isInNetwork(host: string, network: string, prefix: number): boolean {
  if (!(prefix >= 0 && prefix <= (isIP(network) === 6 ? 128 : 32)) || isIP(host) !== isIP(network)) return false;
  const family = isIP(host) === 6 ? "ipv6" : "ipv4";
  const subnet = new BlockList();
  subnet.addSubnet(network, prefix, family);
  return subnet.check(host, family);
}
