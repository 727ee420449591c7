import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Container, PodSpec } from "#kubernetes";
import { mirrorAnnotation, pinsOf, pointPod } from "../../src/domain/pinning/pod-pins.ts";
import { pinnedAnnotation } from "../../src/domain/references/annotations.ts";
import { limits } from "../../src/domain/references/references.ts";
import { webhookConfiguration } from "../../src/webhook/certificates/configuration.ts";
import { reviewPod } from "../../src/webhook/review/reviewer.ts";
import type { AdmissionRequest } from "../../src/webhook/server/review.ts";
import { configurations } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { makeNamespace } from "../end-to-end/objects.ts";
import { patched } from "../support/domain/patched.ts";
import { pinnedPodCases } from "../support/domain/pinned-pods.ts";
import { playedSeed } from "../support/played-seed.ts";
import { createdPod, pointsPods, policies, registerInjector, serveReviews, type TestWebhook } from "./pointed.ts";
import { randomPins, randomPodSpec } from "./random-pods.ts";

const release = "pinning";
/** Namespaces in which the policy, the webhook and nothing points Pods. */
const [byPolicy, byWebhook, unpointed] = ["pinning-policy", "pinning-webhook", "pinning-none"];
const injectorName = "z-pinning-injector";

describeOnControlPlane("a new Pod with pins", (cluster) => {
  let reviewed: AdmissionRequest[] = [];
  const webhooks: TestWebhook[] = [];

  beforeAll(async () => {
    for (const name of [byPolicy, byWebhook, unpointed]) await makeNamespace(cluster, name);
    await cluster.kubectl(["apply", "-f", "-"], await policies(cluster, release, `namespaces={${byPolicy}}`));
    const webhook = await serveReviews(async (request) => {
      reviewed.push(request);
      return reviewPod(request);
    });
    webhooks.push(webhook);
    const { clientConfig } = webhook;
    const options = { name: release, clientConfig, namespaces: [byWebhook], pinConfig: true };
    await cluster.api("POST", configurations, webhookConfiguration(options));
    const sidecar = { image: "sidecar", envFrom: [{ configMapRef: { name: "web" } }] };
    webhooks.push(await registerInjector(cluster, injectorName, [byPolicy, byWebhook], sidecar));
    for (const name of [byPolicy, byWebhook]) await pointsPods(cluster, name);
    await pointsPods(cluster, unpointed, "any");
  });
  afterAll(async () => {
    for (const name of [release, injectorName]) await cluster.api("DELETE", `${configurations}/${name}`);
    await cluster.kubectl(["delete", "-f", "-"], await policies(cluster, release, `namespaces={${byPolicy}}`));
    for (const webhook of webhooks) await webhook.close();
  });

  describe.for([byPolicy, byWebhook])("in namespace %s", (namespace) => {
    it.for(pinnedPodCases)("is pointed: $title", async ({ pinned, annotations, created, pointed }) => {
      const all = { ...annotations, [pinnedAnnotation]: pinned };
      const expected = await createdPod(cluster, unpointed, pointed);
      const { spec, metadata } = await createdPod(cluster, namespace, created, all);
      expect(spec).toEqual(expected.spec);
      expect(metadata.annotations).toEqual(all);
    });

    it("does not have containers pointed that another webhook adds later, because a copy may lack their keys", async () => {
      const body = {
        metadata: {
          name: "web",
          labels: { inject: "true" },
          annotations: { [pinnedAnnotation]: "web=web-0123456789" },
        },
        spec: { containers: [{ name: "app", image: "app", envFrom: [{ configMapRef: { name: "web" } }] }] },
      };
      const { spec } = await cluster.api<{ spec: { containers: Container[] } }>(
        "POST",
        `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
        body,
      );
      const names = spec.containers.map(({ name, envFrom }) => [name, envFrom?.[0]?.configMapRef?.name]);
      expect(names).toEqual([
        ["app", "web-0123456789"],
        ["sidecar", "web"],
      ]);
    });

    it("keeps the volume that Kubernetes adds for its ServiceAccount", async () => {
      const pinned = "kube-root-ca.crt=kube-root-ca.crt-0123456789,web=web-0123456789";
      const { spec } = await createdPod(
        cluster,
        namespace,
        { containers: [{ name: "app", image: "app", envFrom: [{ configMapRef: { name: "web" } }] }] },
        { [pinnedAnnotation]: pinned },
      );
      const volume = spec.volumes?.find(({ name }) => name.startsWith("kube-api-access-"));
      expect(volume?.projected?.sources?.find(({ configMap }) => configMap)?.configMap?.name).toBe("kube-root-ca.crt");
      expect(spec.containers[0]?.envFrom?.[0]?.configMapRef?.name).toBe("web-0123456789");
    });

    it("stays as it is if the API server would reject it without Wave, too", async () => {
      for (const spec of [
        { containers: [{ name: "app", image: "app", envFrom: [{ configMapRef: { name: "" } }] }] },
        { containers: [], volumes: [{ name: "v", configMap: {} }] },
        { containers: [{ name: "app", image: "app" }], volumes: [{ name: "p", projected: { sources: [null] } }] },
      ]) {
        const failure = (name: string) =>
          createdPod(cluster, name, spec as never, { [pinnedAnnotation]: "web=web-0123456789" }).then(
            () => "created",
            (error: Error) => error.message.replaceAll(name, "NAMESPACE"),
          );
        expect(await failure(namespace)).toBe(await failure(unpointed));
      }
    });
  });

  it("is not pointed if it is the mirror of a file", async () => {
    const spec = { containers: [{ name: "app", image: "app", envFrom: [{ configMapRef: { name: "web" } }] }] };
    const annotations = { [pinnedAnnotation]: "web=web-0123456789", [mirrorAnnotation]: "x" };
    for (const namespace of [byPolicy, byWebhook]) {
      const pod = await createdPod(cluster, namespace, { ...spec, nodeName: "node" }, annotations);
      expect(pod.spec.containers[0]?.envFrom?.[0]?.configMapRef?.name).toBe("web");
    }
  });

  it("is created in any case: it reads live configuration if there are too many references for the policy", async () => {
    const variables = (count: number) => ({
      containers: [
        {
          name: "app",
          image: "app",
          env: Array.from({ length: count }, (_, i) => ({
            name: `V${i}`,
            valueFrom: { configMapKeyRef: { name: "web", key: "k" } },
          })),
        },
      ],
    });
    const namesOf = async (namespace: string, count: number) => {
      const pod = await createdPod(cluster, namespace, variables(count), { [pinnedAnnotation]: "web=web-0123456789" });
      const { env = [] } = pod.spec.containers[0] ?? {};
      return [...new Set(env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name))];
    };
    // The limit of references for a workload that Wave plans.
    expect(await namesOf(byPolicy, limits.places.max)).toEqual(["web-0123456789"]);
    expect(await namesOf(byPolicy, 3 * limits.places.max)).toEqual(["web"]);
    expect(await namesOf(byWebhook, limits.places.max)).toEqual(["web-0123456789"]);
  });

  it("is the same by the policy, the webhook and the domain, for random Pods and annotations", async () => {
    const create = (namespace: string, spec: PodSpec, annotations: Record<string, string>) =>
      createdPod(cluster, namespace, spec, annotations).then(
        (pod) => pod.spec as unknown,
        (error: Error) => error.message.replaceAll(namespace, "NAMESPACE"),
      );
    const property = fc.asyncProperty(randomPodSpec, randomPins, async (spec, text) => {
      const annotations = { [pinnedAnnotation]: text };
      const pod = { metadata: { annotations }, spec };
      const pins = pinsOf(pod);
      const expected = pins === undefined ? pod : patched(pod, pointPod(pod, pins));
      const created = await create(unpointed, expected.spec, annotations);
      expect(await create(byPolicy, spec, annotations)).toEqual(created);
      expect(await create(byWebhook, spec, annotations)).toEqual(created);
      if (typeof created === "string") expect(await create(unpointed, spec, annotations)).toEqual(expect.any(String));
    });
    await fc.assert(property, { numRuns: 80, seed: playedSeed() });
  });

  it("costs nothing without the annotation: neither the policy nor the webhook is called", async () => {
    const spec = { containers: [{ name: "app", image: "app", envFrom: [{ configMapRef: { name: "web" } }] }] };
    // Metrics of the API server are text, which the client of the tests does not read.
    const metrics = () => cluster.kubectl(["get", "--raw", "/metrics"]);
    const evaluations = async () =>
      (await metrics())
        .split("\n")
        .filter((line) => /^apiserver_mutating_admission_policy_check_total.*"pinning-pinning"/.test(line));
    await createdPod(cluster, byPolicy, spec, { [pinnedAnnotation]: "web=web-0123456789" });
    const before = await evaluations();
    expect(before).not.toEqual([]);
    reviewed = [];
    for (const namespace of [byPolicy, byWebhook]) await createdPod(cluster, namespace, spec, { other: "x" });
    expect(await evaluations()).toEqual(before);
    expect(reviewed).toEqual([]);
  });
});
