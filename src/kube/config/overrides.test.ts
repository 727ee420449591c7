import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kubeconfigOf, temporaryFiles } from "../../../test/support/kube/files.ts";
import { makeCertificates } from "../../../test/support/kube/server.ts";
import { loadClusterConfig } from "./cluster-config.ts";
import { type ConfigOverrides, parseProxyUrl, proxyFromEnvironment } from "./overrides.ts";

const pem = makeCertificates().ca;
const cluster = {
  "certificate-authority-data": Buffer.from(pem).toString("base64"),
  "tls-server-name": "kubernetes.default",
};
const user = { tokenFile: "token", as: "robot", "as-groups": ["robots"] };

/** Loads a kubeconfig with these overrides, and returns what a connection uses. */
async function load(overrides: ConfigOverrides, env: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFiles({ config: kubeconfigOf({ cluster, user }), token: "from-file" });
  return used({ kubeconfigFlag: join(folder, "config"), env, homeDir: undefined, overrides });
}

async function used(options: Parameters<typeof loadClusterConfig>[0]) {
  const { server, tls, proxy, credentials, impersonation, source } = await loadClusterConfig({
    interactive: false,
    ...options,
  });
  const { headers } = await credentials.current();
  const { ca, serverName: name, insecure } = await tls.current();
  return {
    server: server.href,
    ca,
    name,
    insecure,
    proxy: proxy?.href,
    source,
    ...headers,
    ...impersonation,
  };
}

const plain = {
  server: "https://10.0.0.1:6443/",
  ca: pem,
  name: "kubernetes.default",
  insecure: false,
  authorization: "Bearer from-file",
  "impersonate-user": "robot",
  "impersonate-group": ["robots"],
};

it.each<[ConfigOverrides, object]>([
  [{}, {}],
  [{ server: "https://other:1/a" }, { server: "https://other:1/a", name: undefined }],
  [{ insecureSkipTlsVerify: true }, { ca: undefined, insecure: true }],
  [{ insecureSkipTlsVerify: false }, {}],
  [{ token: "t" }, { authorization: "Bearer t" }],
  [{ as: "ann" }, { "impersonate-user": "ann" }],
  [{ asGroups: ["a", "b,c"] }, { "impersonate-group": ["a", "b,c"] }],
])("%o replaces fields of the kubeconfig as in client-go", async (overrides, replaced) => {
  expect(await load(overrides)).toMatchObject({ ...plain, ...replaced });
});

it("the proxy of the environment is that for the replaced server", async () => {
  const env = { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: "10.0.0.1" };
  expect((await load({}, env)).proxy).toBeUndefined();
  expect((await load({ server: "https://other" }, env)).proxy).toBe("http://proxy:3128/");
});

it("a server needs no kubeconfig, and does not receive the ServiceAccount of the Pod", async () => {
  const inClusterFolder = await temporaryFiles({ token: "of-pod", "ca.crt": pem, namespace: "wave" });
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
  const options = { env, inClusterFolder, homeDir: undefined };
  const elsewhere = await used({ ...options, overrides: { server: "https://other" } });
  expect(elsewhere).toMatchObject({ server: "https://other/", source: "--server", ca: undefined });
  expect(elsewhere).not.toHaveProperty("authorization");
  expect(await used({ ...options, overrides: { server: "https://other", token: "t" } })).toMatchObject({
    authorization: "Bearer t",
  });
});

it("a Pod has the other overrides", async () => {
  const inClusterFolder = await temporaryFiles({ token: "of-pod", "ca.crt": pem, namespace: "wave" });
  const env = { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" };
  const options = { env, inClusterFolder, homeDir: undefined };
  const overrides = { as: "ann", asGroups: ["a"], insecureSkipTlsVerify: true };
  expect(await used({ ...options, overrides })).toMatchObject({
    authorization: "Bearer of-pod",
    "impersonate-user": "ann",
    "impersonate-group": ["a"],
    ca: undefined,
    insecure: true,
  });
  expect(await used({ ...options, overrides: { token: "t" } })).toMatchObject({ authorization: "Bearer t", ca: pem });
  await expect(used({ ...options, overrides: { asGroups: ["a"] } })).rejects.toThrow("--as-group needs --as");
});

const proxy = "http://proxy.example:3128";
const of = (server: string, env: Record<string, string>) => proxyFromEnvironment(new URL(server), env)?.href;

describe("the proxy of the environment", () => {
  it.each([
    ["https://api.example", { HTTPS_PROXY: proxy }, `${proxy}/`],
    ["https://api.example", { https_proxy: proxy }, `${proxy}/`],
    ["https://api.example", { HTTPS_PROXY: "", https_proxy: proxy }, `${proxy}/`],
    ["https://api.example", { HTTPS_PROXY: "proxy.example:3128" }, `${proxy}/`],
    ["https://api.example", { HTTPS_PROXY: "socks5://a:b@proxy.example" }, "socks5://a:b@proxy.example"],
    ["https://api.example", { HTTP_PROXY: proxy }, undefined],
    ["http://api.example", { HTTP_PROXY: proxy }, `${proxy}/`],
    ["http://api.example", { HTTPS_PROXY: proxy }, undefined],
    ["https://api.example", {}, undefined],
  ])("for %s with %j is %s", (server, env, expected) => {
    expect(of(server, env)).toBe(expected);
  });

  it.each(["https://localhost:6443", "https://127.8.0.1", "https://[::1]:6443"])("is none for %s", (server) => {
    expect(of(server, { HTTPS_PROXY: proxy })).toBeUndefined();
  });

  it.each([
    ["https://api.example", "*"],
    ["https://api.example", "other, api.example"],
    ["https://API.example", "Api.Example"],
    ["https://a.api.example", "api.example"],
    ["https://a.api.example", ".api.example"],
    ["https://a.api.example", "*.api.example"],
    ["https://api.example:6443", "api.example:6443"],
    ["https://api.example", "api.example:443"],
    ["https://10.1.2.3:6443", "10.1.2.3"],
    ["https://10.1.2.3:6443", "10.1.2.3:6443"],
    ["https://10.1.2.3", "10.0.0.0/8"],
    ["https://[2001:db8::1]:6443", "2001:db8::1"],
    ["https://[2001:db8::1]:6443", "[2001:db8::1]:6443"],
    ["https://[2001:db8::1]", "2001:db8::/32"],
  ])("is none for %s with NO_PROXY %s", (server, noProxy) => {
    expect(of(server, { HTTPS_PROXY: proxy, NO_PROXY: noProxy })).toBeUndefined();
    expect(of(server, { HTTPS_PROXY: proxy, no_proxy: noProxy })).toBeUndefined();
  });

  it.each([
    ["https://api.example", ".api.example"],
    ["https://notapi.example", "api.example"],
    ["https://api.example:6443", "api.example:443"],
    ["https://11.1.2.3", "10.0.0.0/8"],
    ["https://10.1.2.3", "10.0.0.0/99"],
    ["https://10.1.2.3", "2001:db8::/32, 1.2.3, x/8"],
    ["https://api.example", ", ,"],
  ])("stays for %s with NO_PROXY %s", (server, noProxy) => {
    expect(of(server, { HTTPS_PROXY: proxy, NO_PROXY: noProxy })).toBe(`${proxy}/`);
  });

  it.each(["ftp://sekret@proxy", "http://", "http://:80"])(
    "names the variable, not its value, if that is %s",
    (value) => {
      const get = () => of("https://api.example", { HTTPS_PROXY: value });
      expect(get).toThrow(/^\$HTTPS_PROXY is not a URL of a proxy/);
      expect(get).not.toThrow(/sekret/);
    },
  );
});

it("accepts the protocols of kubectl", () => {
  const texts = ["http://a", "https://a:1", "socks5://a", "socks5h://a", "ftp://a", "a", "socks4://a"];
  expect(texts.filter((text) => parseProxyUrl(text) !== undefined)).toEqual(texts.slice(0, 4));
});
