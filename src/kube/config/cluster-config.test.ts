import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kubeconfigOf, temporaryFiles } from "../../../test/support/kube/files.ts";
import { makeCertificates } from "../../../test/support/kube/server.ts";
import { ClusterConfigError } from "../api/api-failure.ts";
import { type ClusterConfigOptions, loadClusterConfig } from "./cluster-config.ts";

const pem = makeCertificates().ca;
const podEnv = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };
const serviceAccount = { token: "t1\n", "ca.crt": pem, namespace: "tools\n" };
const at = (server: string) => kubeconfigOf({ cluster: { server } });

/** A home with a kubeconfig, a Pod's folder, and two more kubeconfigs. */
async function everything(): Promise<{ folder: string; options: ClusterConfigOptions }> {
  const folder = await temporaryFiles({ ...serviceAccount, flag: at("https://flag"), one: at("https://one") });
  await mkdir(join(folder, ".kube"));
  await writeFile(join(folder, ".kube", "config"), at("https://home"));
  return { folder, options: { env: {}, homeDir: folder, inClusterFolder: folder } };
}

async function messageOf(options: ClusterConfigOptions): Promise<string> {
  const error = await loadClusterConfig(options).catch((thrown: unknown) => thrown);
  if (!(error instanceof ClusterConfigError)) throw new Error("no ClusterConfigError", { cause: error });
  expect(error.message).not.toContain("\n");
  return error.message;
}

describe("the cluster", () => {
  it("is taken from --kubeconfig, then $KUBECONFIG, then the Pod, then ~/.kube/config", async () => {
    const { folder, options } = await everything();
    const env = { ...podEnv, KUBECONFIG: join(folder, "one") };
    const hostOf = async (more: Partial<ClusterConfigOptions>) =>
      (await loadClusterConfig({ ...options, ...more })).server.host;
    expect(await hostOf({ kubeconfigFlag: join(folder, "flag"), env })).toBe("flag");
    expect(await hostOf({ kubeconfigFlag: "", env })).toBe("one");
    expect(await hostOf({ env: podEnv })).toBe("10.96.0.1");
    expect(await hostOf({ env: { ...podEnv, KUBECONFIG: "" } })).toBe("10.96.0.1");
    expect(await hostOf({})).toBe("home");
  });

  it("is taken from ~/.kube/config also in a Pod if a context is set, because a ServiceAccount has no contexts", async () => {
    const { options } = await everything();
    expect((await loadClusterConfig({ ...options, env: podEnv, context: "dev" })).server.host).toBe("home");
  });

  it("is named with its context and file for messages", async () => {
    const { folder, options } = await everything();
    expect((await loadClusterConfig(options)).source).toBe(`context dev of ${join(folder, ".kube", "config")}`);
  });

  it("is not searched elsewhere if the named files do not exist", async () => {
    const { folder, options } = await everything();
    const [a, b] = [join(folder, "a"), join(folder, "b")];
    expect(await messageOf({ ...options, kubeconfigFlag: a })).toBe(`--kubeconfig: file ${a} not found`);
    expect(await messageOf({ ...options, env: { ...podEnv, KUBECONFIG: `${a}:${b}` } })).toBe(
      `$KUBECONFIG: no such file: ${a}, ${b}`,
    );
  });

  it("is reported as missing with all searched places and the flag to set", async () => {
    const home = await temporaryFiles();
    expect(await messageOf({ env: {}, homeDir: home })).toBe(
      `no cluster configured: $KUBECONFIG is not set, Wave does not run in a Pod, and ${home}/.kube/config does not exist; set --kubeconfig FILE`,
    );
  });
});

describe("in a Pod", () => {
  it("the server, its authority, the namespace and the token are those of the service account", async () => {
    const folder = await temporaryFiles(serviceAccount);
    const config = await loadClusterConfig({ env: podEnv, homeDir: "/nonexistent", inClusterFolder: folder });
    expect(config.server.href).toBe("https://10.96.0.1/");
    expect(config.namespace).toBe("tools");
    expect(await config.tls.current()).toEqual({ ca: pem, insecure: false });
    expect(await config.credentials.current()).toEqual({ headers: { authorization: "Bearer t1" } });
    expect(config.source).toBe("the ServiceAccount of the Pod");
  });

  it("the host may be an IPv6 address", async () => {
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
    const inClusterFolder = await temporaryFiles(serviceAccount);
    const config = await loadClusterConfig({ env, homeDir: "/nonexistent", inClusterFolder });
    expect(config.server.href).toBe("https://[fd00::1]:6443/");
  });

  it("the namespace may be unknown", async () => {
    const inClusterFolder = await temporaryFiles({ token: "t", "ca.crt": pem });
    const config = await loadClusterConfig({ env: podEnv, homeDir: "/nonexistent", inClusterFolder });
    expect(config.namespace).toBeUndefined();
  });

  it.each(["token", "ca.crt"])(
    "a missing %s is reported with the searched place and the possible reason",
    async (file) => {
      const inClusterFolder = await temporaryFiles(
        Object.fromEntries(Object.entries(serviceAccount).filter(([name]) => name !== file)),
      );
      const message = await messageOf({ env: podEnv, homeDir: "/nonexistent", inClusterFolder });
      expect(message).toContain(join(inClusterFolder, file));
      expect(message).toContain("set automountServiceAccountToken: true");
    },
  );

  it("an authority without a certificate is reported", async () => {
    const inClusterFolder = await temporaryFiles({ ...serviceAccount, "ca.crt": "" });
    const message = await messageOf({ env: podEnv, homeDir: "/nonexistent", inClusterFolder });
    expect(message).toContain(`in ${inClusterFolder}: ca.crt contains no valid certificate in PEM`);
  });

  it("a kubeconfig in the home folder is used if the service account cannot be read", async () => {
    const { options } = await everything();
    const config = await loadClusterConfig({ ...options, env: podEnv, inClusterFolder: "/nonexistent" });
    expect(config.server.host).toBe("home");
  });
});
