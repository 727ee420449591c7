import { expect, it } from "vitest";
import { type FaultyRequest, type Sandbox, startSandbox } from "../../../../sandbox/sandbox.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { workload } from "../../../../test/support/fake-cluster.ts";
import { leadingCluster, plainPolicy } from "../../../../test/support/leading-cluster.ts";
import { configDiffered, rolledAtAnnotation } from "../../../domain/references/annotations.ts";
import { logMessages } from "../../../telemetry/logging/log-messages.ts";

const podPath = "/api/v1/namespaces/default/pods";

/** Reads files, which may be old for up to two minutes. */
const readsFiles = {
  volumes: [{ name: "config", configMap: { name: "web" } }],
  containers: [{ name: "main", image: "nginx", volumeMounts: [{ name: "config", mountPath: "/config" }] }],
};

/** A Deployment `web` with one Pod, which has its first hash. */
async function scene(podSpec: object = {}) {
  const servers: Sandbox[] = [];
  const cluster = await leadingCluster(
    async ({ clock }) => {
      const server = await startSandbox({ clock });
      servers.push(server);
      return server;
    },
    plainPolicy,
    async (cluster) => {
      await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
      await cluster.create("Deployment", workload("web", podSpec));
    },
  );
  const pods = async () =>
    (await cluster.client.request<{ items: { metadata: { name: string } }[] }>({ method: "GET", path: podPath })).items;
  /** Lets time pass, with a look at the Deployment after each step. */
  const pass = async (seconds: number, step = 1) => {
    for (let passed = 0; passed < seconds; passed += step) {
      await cluster.clock.advance(step * 1_000);
      for (let turn = 0; turn < 3; turn++) await pods();
      await cluster.show("Deployment", "web");
    }
  };
  const show = async (data: Readonly<Record<string, string | null>>) => {
    await cluster.edit("ConfigMap", "web", { data });
    await cluster.show("ConfigMap", "web");
    await pass(10);
  };
  const hold = async (value: "true" | null) => {
    await cluster.edit("Deployment", "web", { metadata: { annotations: { "wave.pusher.com/hold": value } } });
    await cluster.show("Deployment", "web");
    await pass(10);
  };
  /** Deletes the Pod as a drain does, and waits for its replacement. */
  const drain = async () => {
    for (const { metadata } of await pods())
      await cluster.client.request({ method: "DELETE", path: `${podPath}/${metadata.name}` });
    await pass(10);
  };
  const repairs = () =>
    cluster.events.filter(
      ({ message }) => message === "Rollout started: 1 of 1 Pod may run configuration that was reverted.",
    ).length;
  await eventually(async () => {
    await pass(1);
    expect(await pods()).toHaveLength(1);
  });
  await pass(200, 10);
  /** Answers such requests with a status until the returned function is called. */
  const refuse = (match: (request: FaultyRequest) => boolean, status: number) => {
    const ends = servers.map(({ faults }) => faults.add({ match, action: { type: "status", status } }));
    return () => {
      for (const end of ends) end();
    };
  };
  const refuseRollouts = () =>
    refuse(({ method, query }) => method === "PATCH" && query.get("fieldManager") === "wave", 403);
  return { show, hold, drain, pass, repairs, refuse, refuseRollouts, cluster };
}

it("a Pod that started in a later difference is replaced again, while files may still be old", async () => {
  const { show, hold, drain, repairs, pass } = await scene(readsFiles);
  for (const expected of [1, 2]) {
    await hold("true");
    await show({ a: "2" });
    await drain();
    await show({ a: "1" });
    expect(repairs()).toBe(expected - 1);
    await hold(null);
    await pass(20);
    expect(repairs()).toBe(expected);
  }
});

it("a rollout that the API server refuses is reported, and tried until it succeeds", async () => {
  const { show, hold, drain, repairs, pass, refuseRollouts, cluster } = await scene();
  await hold("true");
  await show({ a: "2" });
  await drain();
  await show({ a: "1" });
  const isRolled = async () => JSON.stringify(await cluster.get("Deployment", "web")).includes(rolledAtAnnotation);
  const allow = refuseRollouts();
  await hold(null);
  await pass(60, 2);
  expect(cluster.events.some(({ reason }) => reason === "RolloutRefused")).toBe(true);
  expect([repairs(), await isRolled()]).toEqual([0, false]);
  allow();
  await pass(120, 5);
  expect([repairs(), await isRolled()]).toEqual([1, true]);
  // Nothing is left to do: the note is gone, and the Pods are not read again.
  const { metadata } = (await cluster.get("Deployment", "web")) as { metadata: { annotations: object } };
  expect(metadata.annotations).not.toHaveProperty([configDiffered]);
});

it("Pods that cannot be read are read again later", async () => {
  const { show, hold, drain, repairs, pass, refuse, cluster } = await scene();
  await hold("true");
  await show({ a: "2" });
  await drain();
  await show({ a: "1" });
  await pass(10);
  // Only Wave selects Pods by their labels.
  const allow = refuse(({ path, query }) => path === podPath && query.has("labelSelector"), 500);
  await hold(null);
  await pass(30, 5);
  expect(cluster.logged.map(({ message }) => message)).toContain(logMessages.mixedPodsKept);
  expect(repairs()).toBe(0);
  allow();
  await pass(120, 5);
  expect(repairs()).toBe(1);
});

it("a Pod that started before all keys were removed is not replaced", async () => {
  const { show, hold, drain, repairs, pass } = await scene();
  await hold("true");
  await show({ a: "2" });
  await drain();
  await show({ a: "1" });
  await hold(null);
  expect(repairs()).toBe(1);
  await pass(30);
  await hold("true");
  // The API has no time of this change.
  await show({ a: null });
  await show({ a: "1" });
  await hold(null);
  await pass(150, 5);
  expect(repairs()).toBe(1);
});

it("a Pod that started in a difference is not replaced after it was proven to have read what is live", async () => {
  const { show, hold, drain, repairs, pass, cluster } = await scene();
  await hold("true");
  await show({ a: "2" });
  await drain();
  await pass(60, 5);
  await hold(null);
  await pass(30);
  expect(cluster.events.map(({ reason }) => reason)).toContain("ConfigRecorded");
  expect(repairs()).toBe(0);
});
