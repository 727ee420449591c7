import { join } from "node:path";
import { expect, it } from "vitest";
import { kubeconfigOf, temporaryFiles } from "../../../test/support/kube/files.ts";
import { makeCertificates } from "../../../test/support/kube/server.ts";
import { loadClusterConfig } from "./cluster-config.ts";
import type { ConfigOverrides } from "./overrides.ts";

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
  const { server, tls, proxy, credentials, source } = await loadClusterConfig({ interactive: false, ...options });
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
