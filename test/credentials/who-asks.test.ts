import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { isUnauthorized } from "../../src/kube/api/api-failure.ts";
import { type ClusterConfigOptions, loadClusterConfig } from "../../src/kube/config/cluster-config.ts";
import { createApiClient } from "../../src/kube/http/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { temporaryFiles } from "../support/kube/files.ts";

const v1 = "client.authentication.k8s.io/v1";
const account = "system:serviceaccount:credentials-test:asker";

interface Review {
  readonly status: { readonly userInfo: { readonly username: string } };
}

/** The user as which the API server authenticates Wave. */
async function whoAsks(options: Partial<ClusterConfigOptions>): Promise<Review["status"]["userInfo"]> {
  const env = { PATH: process.env.PATH };
  const config = await loadClusterConfig({ env, homeDir: "/nonexistent", interactive: false, ...options });
  const base = { clock: systemClock, log: silentLogger, metrics: new MetricsRegistry() };
  const client = createApiClient({ ...base, config, userAgent: "credentials-test" });
  try {
    const kind = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    return (await client.request<Review>({ method: "POST", path, body: kind })).status.userInfo;
  } finally {
    await client.close();
  }
}

describeOnControlPlane("the user of a request", (cluster) => {
  const kubeconfig = parse(readFileSync(cluster.kubeconfig, "utf8"));
  const admin = kubeconfig.users[0].user;
  const withUser = (user: object) => JSON.stringify({ ...kubeconfig, users: [{ ...kubeconfig.users[0], user }] });

  /** A token of a service account, created at its first use. */
  const accountToken = async () => {
    const namespace = { kind: "Namespace", apiVersion: "v1", metadata: { name: "credentials-test" } };
    const serviceAccount = { kind: "ServiceAccount", apiVersion: "v1", metadata: { name: "asker" } };
    await cluster.kubectl(["apply", "-f", "-"], JSON.stringify(namespace));
    await cluster.kubectl(["apply", "-n", "credentials-test", "-f", "-"], JSON.stringify(serviceAccount));
    return (await cluster.kubectl(["create", "token", "asker", "-n", "credentials-test"])).trim();
  };

  it("is the same for Wave as for kubectl, including impersonation with all its fields", async () => {
    const extra = { "example.org/Scopes (x)": ["view", "edit"] };
    const user = { ...admin, as: "Jürgen", "as-uid": "7", "as-groups": ["dev", " 開発 "], "as-user-extra": extra };
    const config = join(await temporaryFiles({ config: withUser(user) }), "config");
    const printed = await cluster.kubectl(["--kubeconfig", config, "auth", "whoami", "-o", "json"]);
    const review: Review = JSON.parse(printed);
    expect(review.status.userInfo.username).toBe("Jürgen");
    expect(await whoAsks({ kubeconfigFlag: config })).toEqual(review.status.userInfo);
  });

  it("is the service account of the Pod in a Pod", async () => {
    const { server, "certificate-authority-data": authority } = kubeconfig.clusters[0].cluster;
    const { hostname, port } = new URL(server);
    const inClusterFolder = await temporaryFiles({
      token: await accountToken(),
      "ca.crt": Buffer.from(authority, "base64").toString(),
      namespace: "credentials-test",
    });
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    expect((await whoAsks({ env, inClusterFolder })).username).toBe(account);
  });

  it("is the user that a plugin returns, which runs again when the server refuses its token", async () => {
    const folder = await temporaryFiles({
      config: withUser({ exec: { apiVersion: v1, command: "./plugin", interactiveMode: "Never" } }),
      token: await accountToken(),
      plugin: `#!/bin/sh
cd "$(dirname "$0")"
[ -e runs ] && token=$(cat token) || token=stale
echo run >>runs
echo '{"apiVersion":"${v1}","kind":"ExecCredential","status":{"token":"'$token'"}}'
`,
    });
    expect((await whoAsks({ kubeconfigFlag: join(folder, "config") })).username).toBe(account);
    expect(await readFile(join(folder, "runs"), "utf8")).toBe("run\nrun\n");
  });

  it("is unknown if the token is refused and there is no other token", async () => {
    const config = join(await temporaryFiles({ config: withUser({ token: "refused" }) }), "config");
    const error = await whoAsks({ kubeconfigFlag: config }).catch((thrown: unknown) => thrown);
    expect(isUnauthorized(error)).toBe(true);
  });
});
