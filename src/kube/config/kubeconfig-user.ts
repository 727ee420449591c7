import type { Section } from "../../lib/yaml-mapping.ts";
import {
  bearer,
  type Credential,
  type Credentials,
  controlCharacter,
  fixedCredentials,
  headerValue,
  tokenFileCredentials,
} from "./credentials.ts";
import { type ExecContext, type ExecPlugin, execCredentials } from "./exec-plugin.ts";

/**
 * Returns the credentials of a kubeconfig user, in the order of kubectl: token file (until it is readable, the `token`
 * field), token, user name and password, plugin. A client certificate belongs to the connection, not to requests. `ca` is
 * that of the cluster, in PEM.
 * @throws ClusterConfigError for an unsupported or invalid field.
 */
export function userCredentials(
  user: Section,
  cluster: Section,
  ca: string | undefined,
  surroundings: ExecContext,
): Credentials {
  const token = headerText(user, "token");
  const tokenFile = user.path("tokenFile");
  if (tokenFile !== undefined) return tokenFileCredentials(tokenFile, surroundings.clock, token);
  if (token !== undefined) return fixedCredentials(bearer(token));
  const username = user.text("username");
  if (username !== undefined) {
    const pair = Buffer.from(`${username}:${user.text("password") ?? ""}`).toString("base64");
    return fixedCredentials({ authorization: `Basic ${pair}` });
  }
  const exec = user.section("exec");
  if (exec !== undefined) return execCredentials(toPlugin(exec, cluster, ca), surroundings);
  if (user.has("auth-provider")) {
    throw user.wrong("auth-provider", "is not supported; use the credential plugin (exec) of the provider");
  }
  return fixedCredentials();
}

function toPlugin(exec: Section, cluster: Section, ca: string | undefined): ExecPlugin {
  const command = exec.text("command");
  if (command === undefined) throw exec.wrong("command", "is missing");
  const apiVersion = exec.text("apiVersion");
  if (apiVersion !== "client.authentication.k8s.io/v1" && apiVersion !== "client.authentication.k8s.io/v1beta1") {
    throw exec.wrong("apiVersion", `is ${apiVersion ?? "missing"}; use client.authentication.k8s.io/v1 or v1beta1`);
  }
  const interactiveMode = exec.text("interactiveMode") ?? "IfAvailable";
  if (interactiveMode !== "Never" && interactiveMode !== "IfAvailable" && interactiveMode !== "Always") {
    throw exec.wrong("interactiveMode", "is not one of Never, IfAvailable, Always");
  }
  return {
    apiVersion,
    command,
    args: exec.texts("args"),
    env: environment(exec),
    interactiveMode,
    installHint: exec.text("installHint"),
    cluster: exec.flag("provideClusterInfo") ? clusterInfo(cluster, ca) : undefined,
    file: exec.file,
    place: exec.place,
  };
}

function environment(exec: Section): Readonly<Record<string, string>> {
  const variables = exec.sections("env").map((variable) => {
    const name = variable.text("name");
    if (name === undefined) throw variable.wrong("name", "is missing");
    return [name, variable.text("value") ?? ""];
  });
  return Object.fromEntries(variables);
}

/** https://kubernetes.io/docs/reference/config-api/client-authentication.v1/#client-authentication-k8s-io-v1-Cluster */
function clusterInfo(cluster: Section, ca: string | undefined): Readonly<Record<string, unknown>> {
  const own = cluster
    .sections("extensions")
    .find((extension) => extension.text("name") === "client.authentication.k8s.io/exec");
  return {
    server: cluster.text("server"),
    "tls-server-name": cluster.text("tls-server-name"),
    "insecure-skip-tls-verify": cluster.flag("insecure-skip-tls-verify") || undefined,
    "certificate-authority-data": ca === undefined ? undefined : Buffer.from(ca).toString("base64"),
    config: own?.raw("extension"),
  };
}

/**
 * Returns the headers that impersonate another user (https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/).
 * @throws ClusterConfigError for an invalid field.
 */
export function impersonationHeaders(user: Section): Credential["headers"] {
  const headers: Record<string, string | string[]> = {};
  const as = headerText(user, "as");
  if (as !== undefined) headers["impersonate-user"] = as;
  const uid = headerText(user, "as-uid");
  if (uid !== undefined) headers["impersonate-uid"] = uid;
  const groups = headerTexts(user, "as-groups");
  if (groups.length > 0) headers["impersonate-group"] = groups;
  const extra = user.section("as-user-extra");
  if (extra !== undefined)
    for (const name of extra.names()) {
      headers[`impersonate-extra-${escapedHeaderName(name)}`] = headerTexts(extra, name);
    }
  if (as === undefined && Object.keys(headers).length > 0) {
    throw user.wrong("as", "is missing; as-uid, as-groups and as-user-extra require it");
  }
  return headers;
}

function headerText(section: Section, name: string): string | undefined {
  const text = section.text(name);
  return text === undefined ? undefined : headerOf(section, name, text);
}

function headerTexts(section: Section, name: string): string[] {
  return section.texts(name).map((text) => headerOf(section, name, text));
}

function headerOf(section: Section, name: string, text: string): string {
  const value = headerValue(text);
  if (value === undefined) throw section.wrong(name, controlCharacter);
  return value;
}

/** Returns a header name with percent-encoding, which the API server decodes. */
function escapedHeaderName(name: string): string {
  const escaped = encodeURIComponent(name).replaceAll("(", "%28").replaceAll(")", "%29");
  return escaped.toLowerCase();
}
