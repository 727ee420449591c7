import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createAuthority } from "../../src/webhook/certificates/certificates.ts";
import { connect } from "../control-plane/cluster.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { freePort, startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { makeNamespace, workload, workloadPath } from "../end-to-end/objects.ts";
import { configurations, reads } from "./admitted.ts";

const ns = "client-certificate";

describeOnControlPlane("an API server that is configured to present a client certificate", () => {
  let folder: string;
  let plane: ControlPlane;
  let wave: WaveProcess;
  let port: number;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "wave-client-certificate-"));
    const file = async (name: string, content: string | object) => {
      await writeFile(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
      return join(folder, name);
    };
    port = await freePort();
    // An authority may present its own certificate as a client certificate.
    const client = createAuthority("webhook clients", {
      notBefore: Date.now() - 60_000,
      notAfter: Date.now() + 3_600_000,
    });
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const user = {
      "client-certificate-data": base64(client.certificate.pem),
      "client-key-data": base64(client.key),
    };
    // https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#authenticate-apiservers
    const kubeConfigFile = await file("clients", {
      apiVersion: "v1",
      kind: "Config",
      users: [{ name: `127.0.0.1:${port}`, user }],
    });
    const apiVersion = "apiserver.config.k8s.io/v1";
    const configuration = { apiVersion, kind: "WebhookAdmissionConfiguration", kubeConfigFile };
    const admission = await file("admission", {
      apiVersion,
      kind: "AdmissionConfiguration",
      plugins: [{ name: "MutatingAdmissionWebhook", configuration }],
    });
    plane = await startControlPlane({
      workloads: false,
      apiServerFlags: [`--admission-control-config-file=${admission}`],
    });
    wave = await startWave([
      `--kubeconfig=${plane.kubeconfig}`,
      "--enable-webhooks",
      `--webhook-bind-address=127.0.0.1:${port}`,
      `--webhook-url=https://127.0.0.1:${port}`,
      `--webhook-client-ca-file=${await file("ca.crt", client.certificate.pem)}`,
    ]);
  });
  afterAll(async () => {
    await wave?.stop();
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("is the only client that is answered if Wave requires a certificate, although another client knows the path", async () => {
    const cluster = connect(plane);
    try {
      const namespace = await makeNamespace(cluster, ns);
      await namespace.configMap("page", { a: "1" });
      const admitted = async () => {
        const answer = await cluster.api<{ spec: { template: { metadata: { annotations?: object } } } }>(
          "POST",
          `${workloadPath(ns, "Deployment")}?dryRun=All`,
          workload("web", reads("page")),
        );
        return answer.spec.template.metadata.annotations;
      };
      expect(await until("the API server to ask", admitted)).toHaveProperty(["wave.pusher.com/config-hash"]);
      const { webhooks } = await cluster.api<{
        webhooks: readonly [{ clientConfig: { url: string; caBundle: string } }];
      }>("GET", `${configurations}/wave-127.0.0.1-${port}`);
      const { url, caBundle } = webhooks[0].clientConfig;
      const sent = request(url, { method: "POST", ca: Buffer.from(caBundle, "base64"), agent: false });
      sent.end("{}");
      await expect(once(sent, "response")).rejects.toThrow(/certificate required|ECONNRESET|EPIPE/);
    } finally {
      cluster.close();
    }
  });
});
