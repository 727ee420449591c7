import { once } from "node:events";
import { request } from "node:https";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { workload } from "../end-to-end/objects.ts";
import { recordedHash } from "../end-to-end/state.ts";
import { configurations, reads, type Scene, startScene } from "./admitted.ts";

const ns = "admission-certificates";
const secretPath = `/api/v1/namespaces/default/secrets/${ns}-authority`;

interface Configuration {
  readonly metadata: { readonly resourceVersion: string };
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle: string; readonly url: string } }[];
}

describeOnControlPlane("the webhook's certificates", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true });
    await scene.namespace.configMap("page", { a: "1" });
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });
  const configuration = () => cluster.api<Configuration>("GET", `${configurations}/${scene.configuration}`);
  const caBundle = async () => (await configuration()).webhooks[0]?.clientConfig.caBundle;
  const secret = () => cluster.api<{ data: Record<string, string> }>("GET", secretPath);
  const statusOf = async (url: URL, ca: string) => {
    const sent = request(url, { ca, method: "POST", headers: { "content-type": "application/json" }, agent: false });
    sent.end("{}");
    const [response] = await once(sent, "response");
    response.resume();
    return response.statusCode;
  };
  let names = 0;
  /** Reports whether a workload that is created now has its hash in the response. The request is a dry run. */
  const admits = async () => {
    const name = `web-${++names}`;
    const path = `/apis/apps/v1/namespaces/${ns}/deployments?dryRun=All`;
    const object = workload(name, reads("page"));
    const answer = await cluster.api<{ spec: { template: { metadata: { annotations?: Record<string, string> } } } }>(
      "POST",
      path,
      object,
    );
    return answer.spec.template.metadata.annotations?.["wave.pusher.com/config-hash"] !== undefined;
  };

  it("are created by Wave: the API server trusts the authority in the Secret, and Wave writes nothing afterwards", async () => {
    expect(await admits()).toBe(true);
    expect(await caBundle()).toBe((await secret()).data["ca.crt"]);
    const { resourceVersion } = (await configuration()).metadata;
    await scene.caughtUp();
    expect((await configuration()).metadata.resourceVersion).toBe(resourceVersion);
  });

  it("are shared by a second replica, which uses the existing Secret", async () => {
    const before = (await secret()).data;
    const other = await startScene(cluster, `${ns}-2`, { webhooks: true, args: [`--webhook-service-name=${ns}`] });
    expect((await secret()).data).toEqual(before);
    expect(await recordedHash(cluster, `${ns}-2`, "Deployment", "canary")).toMatch(/^v2:/);
    await other.wave.stop();
    // After SIGTERM it removes its own registration, and nothing else.
    await expect(cluster.api("GET", `${configurations}/${other.configuration}`)).rejects.toThrow("404");
    expect(await admits()).toBe(true);
  });

  it("are trusted again after another client overwrites the caBundle", async () => {
    const right = await caBundle();
    const wrong = [{ op: "remove", path: "/webhooks/0/clientConfig/caBundle" }];
    await cluster.api("PATCH", `${configurations}/${scene.configuration}`, wrong, "application/json-patch+json");
    await until("the caBundle to be repaired", async () => ((await caBundle()) === right ? true : undefined));
    await until("admission", async () => (await admits()) || undefined);
  });

  it("come with a secret path, which Wave restores after another client resets it, and which is the only path that is served", async () => {
    const called = async () => new URL((await configuration()).webhooks[0]?.clientConfig.url ?? "");
    const right = await called();
    expect(right.pathname).toMatch(/^\/mutate\/[0-9a-f]{32}$/);
    const reset = [{ op: "replace", path: "/webhooks/0/clientConfig/url", value: new URL("/mutate", right).href }];
    await cluster.api("PATCH", `${configurations}/${scene.configuration}`, reset, "application/json-patch+json");
    await until("the path to be repaired", async () => ((await called()).href === right.href ? true : undefined));
    await until("admission", async () => (await admits()) || undefined);
    const ca = Buffer.from((await caBundle()) ?? "", "base64").toString();
    for (const path of ["/mutate", "/mutate-apps-v1-deployment", `/mutate/${"0".repeat(32)}`]) {
      expect(await statusOf(new URL(path, right), ca)).toBe(404);
    }
    expect(scene.wave.log()).not.toContain(right.pathname);
    expect(await scene.wave.metrics()).not.toContain(right.pathname);
  });

  it("are created again when the Secret is deleted, and no review fails", async () => {
    const before = (await secret()).data["tls.crt"];
    const old = await caBundle();
    await cluster.api("DELETE", secretPath);
    const results = new Set<boolean>();
    const after = await until("another authority", async () => {
      results.add(await admits());
      const { data } = await secret();
      return data["tls.crt"] === before ? undefined : data;
    });
    for (let reviews = 0; reviews < 50; reviews++) results.add(await admits());
    expect([...results]).toEqual([true]);
    const bundle = Buffer.from((await caBundle()) ?? "", "base64").toString();
    expect(bundle).toContain(Buffer.from(old ?? "", "base64").toString());
    expect(bundle).toContain(Buffer.from(after["tls.crt"] ?? "", "base64").toString());
  });

  it("are still served by a ready Wave when the Secret is damaged, and the log shows what to do", async () => {
    const damaged = [{ op: "replace", path: "/data/tls.key", value: "AAAA" }];
    await cluster.api("PATCH", secretPath, damaged, "application/json-patch+json");
    await until(
      "the log",
      async () => scene.wave.log().includes("is damaged; delete it, and Wave creates a new one") || undefined,
    );
    expect(await scene.wave.readyz()).toBe("ok");
    expect(await admits()).toBe(true);
    expect(await scene.wave.metrics()).toMatch(/^wave_webhook_certificate_expiration_timestamp_seconds \d{10}/m);
    await cluster.api("DELETE", secretPath);
    await until(
      "certificates",
      async () => scene.wave.log().includes("certificates are up to date again") || undefined,
    );
    expect(await admits()).toBe(true);
  });

  it("block no request after their process has ended", async () => {
    await scene.wave.stop("SIGKILL");
    expect(await admits()).toBe(false);
    await cluster.api("DELETE", `${configurations}/${scene.configuration}`);
  });
});
