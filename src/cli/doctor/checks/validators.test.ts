import { afterAll, expect, it } from "vitest";
import { startSandbox } from "../../../../sandbox/sandbox.ts";
import { doctorScenes } from "../../../../test/support/cli/doctor.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

const scene = doctorScenes(sandbox, "validated");
const annotations = { "wave.pusher.com/validator": "true" };
const readsKey = (key: string) => [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key } } }];
const readsAll = [{ configMapRef: { name: "page" } }];

it("has no finding about a validator that reads the same in an init container", async () => {
  const { createWorkload, found } = await scene();
  const check = { name: "check", image: "nginx", envFrom: readsAll };
  const spec = { initContainers: [check], containers: [{ name: "pause", image: "pause" }] };
  await createWorkload("deployments/check", {
    annotations,
    spec: { replicas: 1, template: { metadata: { labels: { app: "check" } }, spec } },
  });
  expect((await found("workloads")).filter((each) => each.includes("alidator"))).toEqual([]);
});

it("finds a validator that checks less than others read, serves requests, or has probes or several Pods", async () => {
  const { createWorkload, diagnosed, namespace } = await scene();
  const probe = { httpGet: { path: "/", port: 80 } };
  const containers = [{ name: "check", image: "nginx", env: readsKey("a"), readinessProbe: probe }];
  await createWorkload("deployments/check", {
    annotations,
    spec: { replicas: 2, template: { metadata: { labels: { app: "check", tier: "web" } }, spec: { containers } } },
  });
  await createWorkload("deployments/reader", {
    spec: {
      template: {
        metadata: { labels: { app: "reader" } },
        spec: { containers: [{ name: "web", image: "nginx", envFrom: readsAll }] },
      },
    },
  });
  const service = (name: string, selector: object | undefined) =>
    fetch(`${sandbox.url}/api/v1/namespaces/${namespace}/services`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ metadata: { name }, spec: { selector, ports: [{ port: 80 }] } }),
    });
  await service("web", { tier: "web" });
  await service("other", { app: "reader" });
  await service("external", undefined);
  const { findings } = await diagnosed();
  const about = findings.filter(({ where, what }) => where?.name === "check" && what.includes("alidator"));
  expect(about.map(({ severity, what }) => `${severity}: ${what}`)).toEqual([
    'warning: Validator does not check ConfigMap "page": other workloads read more of it. Read the same keys in the validator.',
    'warning: Service "web" sends requests to this validator. Give its Pods a label that the Service does not select.',
    'warning: Container "check" of this validator has probes. Move the check to an init container, and remove the probes.',
    "warning: Validator has 2 replicas, and all of them check the same. Set replicas to 1.",
  ]);
  expect(about[0]?.where).toEqual({ kind: "Deployment", namespace, name: "check" });
  expect(new Set(about.map(({ fix }) => fix))).toEqual(new Set([`kubectl edit -n ${namespace} deployment/check`]));
});
