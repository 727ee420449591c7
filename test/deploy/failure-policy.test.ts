import { afterAll, beforeAll, expect, it } from "vitest";
import { configurations, helm } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, optIn, workload, workloadPath } from "../end-to-end/objects.ts";
import { chart, manifestsIn, only } from "./rendered.ts";

const ns = "failure-policy";

describeOnControlPlane("a Wave that does not answer, with failurePolicy Fail", (cluster) => {
  const create = (name: string, annotations = {}) => {
    const object = workload(name, { containers: [container] });
    const metadata = { ...object.metadata, annotations };
    return cluster.api("POST", `${workloadPath(ns, "Deployment")}?dryRun=All`, { ...object, metadata });
  };

  beforeAll(async () => {
    await makeNamespace(cluster, ns);
    const values = `webhooks.enabled=true,webhooks.failurePolicy=Fail,compatibility={stakater},autoReloadAll=true,namespaces={${ns}}`;
    const args = ["template", ns, chart, "-n", ns, "--kube-version", "1.30.0", "--set", values];
    // Without the Service, so that no webhook answers.
    const manifests = manifestsIn(await helm(cluster, [...args, "-s", "templates/webhooks.yaml"]));
    await cluster.api("POST", configurations, only("MutatingWebhookConfiguration", manifests));
    // The API server needs a moment until it uses the configuration.
    await until("a workload to be refused", () =>
      create("requested", optIn).then(
        () => undefined,
        () => true,
      ),
    );
  });
  afterAll(async () => {
    await cluster.api("DELETE", `${configurations}/${ns}-webhook`);
  });

  it.for([optIn, { "reloader.stakater.com/auto": "true" }])(
    "blocks workloads with annotations %o",
    async (annotations) => {
      await expect(create("app", annotations)).rejects.toThrow("workloads.wave.pusher.com");
    },
  );

  it("admits workloads without annotations, also with autoReloadAll", async () => {
    await create("app");
  });

  it("admits its own Deployment, so that it can be repaired", async () => {
    await create(ns, optIn);
  });
});
