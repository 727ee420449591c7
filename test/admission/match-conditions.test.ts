import { afterAll, beforeAll, expect, it } from "vitest";
import { compatibilities as everyCompatibility } from "../../src/domain/compatibility/directive.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { createAuthority, issueServingCertificate } from "../../src/webhook/certificates/certificates.ts";
import { webhookConfiguration } from "../../src/webhook/certificates/configuration.ts";
import { pathWith, tokenOf } from "../../src/webhook/certificates/path-token.ts";
import type { AdmissionRequest } from "../../src/webhook/server/review.ts";
import { type AdmissionServer, serveAdmission } from "../../src/webhook/server/server.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, type Namespace, workload, workloadPath } from "../end-to-end/objects.ts";
import { configurations } from "./admitted.ts";

const ns = "match-conditions";
const optIn = "wave.pusher.com/update-on-config-change";
const compatibility = {
  understood: everyCompatibility,
  autoReloadAll: false,
  reloadOnCreate: false,
  reloadOnDelete: false,
};
const patchType = "application/strategic-merge-patch+json";

describeOnControlPlane("the webhook configuration", (cluster) => {
  let server: AdmissionServer;
  let namespace: Namespace;
  let other: Namespace;
  let asked: AdmissionRequest[] = [];

  beforeAll(async () => {
    namespace = await makeNamespace(cluster, ns);
    other = await makeNamespace(cluster, `${ns}-other`);
    const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000 };
    const authority = createAuthority("authority", validity);
    const { certificate, key } = issueServingCertificate(authority, ["127.0.0.1"], validity);
    server = await serveAdmission({
      address: "127.0.0.1:0",
      served: { certificate: certificate.pem, key, tokens: [tokenOf(authority)] },
      review: async (request) => {
        asked.push(request);
        return { patch: undefined, warnings: [`asked about ${request.name}`] };
      },
      clock: systemClock,
      log: silentLogger,
      metrics: new MetricsRegistry(),
    });
    const caBundle = Buffer.from(authority.certificate.pem).toString("base64");
    const clientConfig = { url: `https://127.0.0.1:${server.port}${pathWith(tokenOf(authority))}`, caBundle };
    const body = webhookConfiguration({ name: ns, clientConfig, namespaces: [ns], compatibility });
    await cluster.api("POST", configurations, body);
    // The API server needs a moment until it uses the configuration.
    await until("the API server to ask", async () => (await create({ [optIn]: "true" })) || undefined);
  });
  afterAll(async () => {
    await cluster.api("DELETE", `${configurations}/${ns}`);
    await server.close();
  });

  const object = (annotations: Record<string, string>) => {
    const { metadata, ...rest } = workload("web", { containers: [container] });
    return { ...rest, metadata: { name: metadata.name, annotations } };
  };
  /** Reports whether the API server calls Wave during this action. */
  const reaches = async (request: () => Promise<unknown>) => {
    asked = [];
    await request();
    return asked.length > 0;
  };
  const create = (annotations: Record<string, string>) =>
    reaches(() => cluster.api("POST", `${workloadPath(ns, "Deployment")}?dryRun=All`, object(annotations)));

  it.each<[string, Record<string, string>, boolean]>([
    ["opts in", { [optIn]: "true" }, true],
    ["seems to opt in", { [optIn]: "yes" }, true],
    ["misspells an annotation", { "wave.pusher.com/update-on-configchange": "true" }, true],
    ["declines", { [optIn]: "false", "wave.pusher.com/extra-secrets": "a" }, false],
    ["declines with nothing", { [optIn]: "" }, false],
    ["declines and is still scheduling-held", { [optIn]: "false", "wave.pusher.com/scheduling-disabled": "" }, true],
    ["has annotations of others, and may be opted in by its Namespace", { "example.com/a": "true" }, true],
    ["has no annotations at all, likewise", {}, true],
    [
      "declines, and names objects in SAP's compatibility",
      { [optIn]: "false", "pod-reloader.cs.sap.com/secrets": "a" },
      true,
    ],
    ["declines, and asks in Stakater's", { [optIn]: "false", "secret.reloader.stakater.com/auto": "true" }, true],
  ])("sends Wave a workload that %s: %j", async (_what, annotations, seen) => {
    expect(await create(annotations)).toBe(seen);
  });

  it("sends Wave the workloads that opted in, but neither their scale nor their status nor Wave's own writes", async () => {
    // A StatefulSet, because no other client writes to it. The Deployment controller annotates Deployments.
    const annotations = { [optIn]: "true" };
    await namespace.create(workload("web", { containers: [container] }, { kind: "StatefulSet", annotations }));
    const path = workloadPath(ns, "StatefulSet", "web");
    // The API server evaluates the conditions for the object that its cache has. If that is not the last one, it does so again.
    const versionOf = async (from: string) => (await cluster.api("GET", from)).metadata.resourceVersion;
    const isCached = async () => (await versionOf(path)) === (await versionOf(`${path}?resourceVersion=0`));
    const patch = async (what: object, to = path) => {
      await until("the cache of the API server", async () => (await isCached()) || undefined);
      return await reaches(() => cluster.api("PATCH", to, what, patchType));
    };
    const label = (value: string) => ({ metadata: { labels: { value } } });
    expect(await patch(label("a"))).toBe(true);
    expect(await patch(label("b"), `${path}?fieldManager=somebody`)).toBe(true);
    expect(await patch(label("c"), `${path}?fieldManager=wave`)).toBe(false);
    const scale = { spec: { replicas: 2 } };
    expect(await reaches(() => cluster.api("PATCH", `${path}/scale`, scale, "application/merge-patch+json"))).toBe(
      false,
    );
    const conditions = [{ type: "example.com/seen", status: "True" }];
    expect(await patch({ status: { conditions } }, `${path}/status`)).toBe(false);
    expect(await patch({ metadata: { annotations: { [optIn]: null } } })).toBe(true);
    expect(await patch(label("d"))).toBe(false);
    const hash = { "wave.pusher.com/config-hash": "v2:0" };
    expect(await patch({ spec: { template: { metadata: { annotations: hash } } } })).toBe(true);
    expect(await patch(label("e"))).toBe(true);
    expect(await patch({ metadata: { annotations: { [optIn]: "false" } } })).toBe(true);
    expect(await patch(label("f"))).toBe(false);
    const onTemplate = (annotations: object) => patch({ spec: { template: { metadata: { annotations } } } });
    expect(await onTemplate({ "wave.pusher.com/config-hash": null, [optIn]: "true" })).toBe(false);
    expect(await patch({ metadata: { annotations: { [optIn]: null } } })).toBe(true);
    expect(await patch(label("g"))).toBe(true);
    expect(await onTemplate({ [optIn]: "false" })).toBe(true);
    expect(await patch(label("h"))).toBe(false);
  });

  it("sends nothing about other namespaces and other kinds", async () => {
    const opted = { [optIn]: "true" };
    expect(await reaches(() => other.create(object(opted)))).toBe(false);
    const pod = { metadata: { name: "web", annotations: opted }, spec: { containers: [container] } };
    expect(await reaches(() => cluster.api("POST", `/api/v1/namespaces/${ns}/pods?dryRun=All`, pod))).toBe(false);
  });

  it("sends each of the three kinds, with the object as apps/v1", async () => {
    for (const kind of ["Deployment", "StatefulSet", "DaemonSet"] as const) {
      const opted = workload("kind", { containers: [container] }, { kind });
      expect(await reaches(() => cluster.api("POST", `${workloadPath(ns, kind)}?dryRun=All`, opted))).toBe(true);
      expect(asked[0]).toMatchObject({
        operation: "CREATE",
        kind: { group: "apps", version: "v1", kind },
        namespace: ns,
        object: { apiVersion: "apps/v1", kind, metadata: { namespace: ns } },
        oldObject: undefined,
      });
    }
  });
});
