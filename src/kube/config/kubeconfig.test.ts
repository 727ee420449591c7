import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { type KubeconfigParts, kubeconfigOf, temporaryFiles } from "../../../test/support/kube/files.ts";
import { makeCertificates } from "../../../test/support/kube/server.ts";
import type { ClusterConfig } from "./cluster-access.ts";
import { loadKubeconfig } from "./kubeconfig.ts";

const { cert, key } = makeCertificates().server;
const base64 = (text: string) => Buffer.from(text).toString("base64");

async function load(folder: string, files: readonly string[] = ["config"], context?: string): Promise<ClusterConfig> {
  const config = await loadKubeconfig(
    files.map((file) => join(folder, file)),
    { context, env: { PATH: process.env.PATH }, interactive: false, clock: new FakeClock() },
  );
  if (config === undefined) throw new Error("none of the files exists");
  return config;
}

async function loadParts(parts: KubeconfigParts): Promise<ClusterConfig> {
  return load(await temporaryFiles({ config: kubeconfigOf(parts) }));
}

/** Returns the headers of a request. */
const sent = async ({ credentials, impersonation }: ClusterConfig) => {
  return { ...(await credentials.current()).headers, ...impersonation };
};
const headersOf = async (user: object) => sent(await loadParts({ user }));

describe("a kubeconfig", () => {
  it("is YAML as kubectl writes it", async () => {
    const folder = await temporaryFiles({
      config: `apiVersion: v1
clusters:
- cluster: {certificate-authority-data: ${base64(cert)}, server: "https://127.0.0.1:6443"}
  name: kind
contexts:
- {context: {cluster: kind, namespace: web, user: admin}, name: kind}
current-context: kind
kind: Config
preferences: {}
users:
- name: admin
  user:
    as-groups: null
    token: abc
`,
    });
    const config = await load(folder);
    expect(config.server.href).toBe("https://127.0.0.1:6443/");
    expect(config.namespace).toBe("web");
    expect((await config.tls.current()).ca).toBe(cert);
    expect((await config.credentials.current()).headers).toEqual({ authorization: "Bearer abc" });
  });

  it("has a context for each cluster, and a flag selects one", async () => {
    const context = (name: string) => ({ name, context: { cluster: name } });
    const cluster = (name: string) => ({ name, cluster: { server: `https://${name}/base` } });
    const config = JSON.stringify({ contexts: [context("a"), context("b")], clusters: [cluster("a"), cluster("b")] });
    const folder = await temporaryFiles({ config });
    expect((await load(folder, ["config"], "b")).server.href).toBe("https://b/base");
  });

  it("may have a server without TLS, and a user without credentials", async () => {
    const config = await loadParts({ cluster: { server: "http://127.0.0.1:8001" } });
    expect(config.server.href).toBe("http://127.0.0.1:8001/");
    expect((await config.credentials.current()).headers).toEqual({});
  });

  it("configures trust: an authority, any certificate, or another server name", async () => {
    const trust = async (cluster: object) => (await loadParts({ cluster })).tls.current();
    expect(await trust({})).toEqual({ insecure: false });
    expect(await trust({ "insecure-skip-tls-verify": true })).toEqual({ insecure: true });
    expect(await trust({ "certificate-authority-data": base64(cert), "tls-server-name": "api" })).toEqual({
      ca: cert,
      insecure: false,
      serverName: "api",
    });
  });

  it("has files relative to itself, and data takes precedence", async () => {
    const user = { "client-certificate": "pki/a.crt", "client-key": "pki/a.key" };
    const cluster = { "certificate-authority": "missing", "certificate-authority-data": base64(cert) };
    const folder = await temporaryFiles({ config: kubeconfigOf({ user, cluster }) });
    await mkdir(join(folder, "pki"));
    await writeFile(join(folder, "pki", "a.crt"), cert);
    await writeFile(join(folder, "pki", "a.key"), key);
    expect(await (await load(folder)).tls.current()).toEqual({ ca: cert, cert, key, insecure: false });
  });
});

describe("several kubeconfigs", () => {
  const one = JSON.stringify({
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server: "https://one" } }],
  });
  const two = JSON.stringify({
    "current-context": "a",
    clusters: [{ name: "a", cluster: { server: "https://two" } }],
    users: [{ name: "a", user: { tokenFile: "token" } }],
  });
  const three = JSON.stringify({ "current-context": "c", users: [{ name: "a", user: { token: "three" } }] });

  it("are merged: the first definition of a name or current context applies, and file paths are relative to their own kubeconfig", async () => {
    const folder = await temporaryFiles({ one, three });
    await mkdir(join(folder, "sub"));
    await writeFile(join(folder, "sub", "two"), two);
    await writeFile(join(folder, "sub", "token"), "of two");
    const config = await load(folder, ["one", "missing", "sub/two", "three"]);
    expect(config.server.host).toBe("one");
    expect(config.source).toBe(`context a of ${join(folder, "one")}`);
    expect((await config.credentials.current()).headers).toEqual({ authorization: "Bearer of two" });
  });

  it("are undefined if no file exists", async () => {
    const options = { context: undefined, env: {}, interactive: false, clock: new FakeClock() };
    expect(await loadKubeconfig(["/nonexistent/a", "/nonexistent/b"], options)).toBeUndefined();
  });
});

describe("a user", () => {
  it("may have a token, a token file, or a name and password", async () => {
    expect(await headersOf({ token: "t" })).toEqual({ authorization: "Bearer t" });
    const basic = `Basic ${base64("jane:p:ä")}`;
    expect(await headersOf({ username: "jane", password: "p:ä" })).toEqual({ authorization: basic });
    const folder = await temporaryFiles({ config: kubeconfigOf({ user: { tokenFile: "t", token: "x" } }), t: "file" });
    expect((await (await load(folder)).credentials.current()).headers).toEqual({ authorization: "Bearer file" });
  });

  it("is sent in UTF-8, as kubectl sends it", async () => {
    const headers = await headersOf({ token: "t", as: "Jürgen", "as-groups": ["開発"] });
    const texts = Object.values(headers).flat();
    expect(texts.map((text) => Buffer.from(text, "latin1").toString())).toEqual(["Bearer t", "Jürgen", "開発"]);
  });

  it("may be impersonated with its own credential", async () => {
    const user = {
      ...{ token: "t", as: "jane", "as-uid": "7", "as-groups": ["dev", "ops"] },
      "as-user-extra": { "example.org/Scopes (x)": ["view", "edit"] },
    };
    expect(await headersOf(user)).toEqual({
      authorization: "Bearer t",
      "impersonate-user": "jane",
      "impersonate-uid": "7",
      "impersonate-group": ["dev", "ops"],
      "impersonate-extra-example.org%2fscopes%20%28x%29": ["view", "edit"],
    });
  });

  it("may have a plugin next to the kubeconfig, which gets the cluster if it requests that", async () => {
    const exec = {
      ...{ apiVersion: "client.authentication.k8s.io/v1", command: "./plugin", args: ["x"], env: null },
      ...{ interactiveMode: "Never", provideClusterInfo: true },
    };
    const cluster = {
      "certificate-authority-data": base64(cert),
      "tls-server-name": "api",
      extensions: [{ name: "client.authentication.k8s.io/exec", extension: { audience: "a", retry: true } }],
    };
    const plugin = `#!/bin/sh
printf '%s' "$KUBERNETES_EXEC_INFO" >"$(dirname "$0")/told"
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$1'"}}'
`;
    const folder = await temporaryFiles({ config: kubeconfigOf({ user: { exec, as: "jane" }, cluster }), plugin });
    expect(await sent(await load(folder))).toEqual({ authorization: "Bearer x", "impersonate-user": "jane" });
    expect(JSON.parse(await readFile(join(folder, "told"), "utf8")).spec.cluster).toEqual({
      server: "https://10.0.0.1:6443",
      "certificate-authority-data": base64(cert),
      "tls-server-name": "api",
      config: { audience: "a", retry: true },
    });
  });
});
