import { expect, it, onTestFinished } from "vitest";
import type { Pod } from "#kubernetes";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { unpaced } from "../../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { workload } from "../../../../test/support/fake-cluster.ts";
import { LateReplica, MemoryCluster } from "../../../../test/support/late-replica.ts";
import { defaultFlags } from "../../../../test/support/pacing/due.ts";
import { startMemoryServer } from "../../../../test/support/sandbox-memory-server.ts";
import { type ConfigObject, toConfig } from "../../../domain/config/digest.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { ApiError } from "../../../kube/api/api-failure.ts";
import { resources } from "../../../kube/api/resources.ts";

const { configMaps, deployments } = resources;
const policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pacing: unpaced } as const;

/** A pod spec that reads all keys of a ConfigMap. */
const reading = (name: string) => ({
  containers: [{ name: "main", image: "x", envFrom: [{ configMapRef: { name } }] }],
});

/** The hash of a Deployment, and the hash of its current ConfigMap. */
async function hashesOf(cluster: MemoryCluster, name: string) {
  const config = toConfig("ConfigMap", await cluster.get<ConfigObject>(configMaps, name));
  const stored = toWorkload(kinds.Deployment, await cluster.get<WorkloadObject>(deployments, name));
  const plan = planRollout(stored, () => config, policy);
  return { recorded: stored.recordedHash, current: "view" in plan ? plan.view.hash : "" };
}

/** A cluster with `count` Deployments without hashes, each with a ConfigMap of its own, and a replica that has listed nothing yet. */
async function unseen(count: number, options: ConstructorParameters<typeof LateReplica>[1] = {}) {
  const server = startMemoryServer({ controllers: false });
  const cluster = new MemoryCluster(server);
  const leader = new LateReplica(cluster, options);
  onTestFinished(() => {
    leader.end();
    server.stop();
  });
  const names = Array.from({ length: count }, (_, index) => `app-${index}`);
  for (const name of names) {
    await cluster.create(configMaps, { metadata: { name }, data: { v: "0" } });
    await cluster.create(deployments, workload(name, reading(name)));
  }
  const optIn = (name: string, value: string) =>
    cluster.edit(deployments, name, {
      metadata: { annotations: { "wave.pusher.com/update-on-config-change": value } },
    });
  const editConfig = (name: string, v: string) => cluster.edit(configMaps, name, { data: { v } });
  const expectCurrent = async (...of: readonly string[]) => {
    for (const name of of) {
      const { recorded, current } = await hashesOf(cluster, name);
      expect(recorded, name).toBe(current);
    }
  };
  /** How many GETs of single ConfigMaps, lists of them, and writes Wave has sent since the last call. */
  const sent = () => {
    const asked = cluster.asked.splice(0);
    const count = (pattern: RegExp) => asked.filter((request) => pattern.test(request)).length;
    return {
      reads: count(/^GET/),
      gets: count(/^GET configmaps\//),
      lists: count(/^GET .*\/configmaps$/),
      patches: count(/^PATCH/),
    };
  };
  return { cluster, leader, names, optIn, editConfig, expectCurrent, sent };
}

it("1,001 first hashes need at most 60 reads: fewer than 50 of single objects, and lists in pages", async () => {
  const { leader, names, sent, expectCurrent } = await unseen(1_001);
  await leader.list();
  sent();
  await leader.lead();
  const { reads, gets, lists, patches } = sent();
  expect(patches).toBe(1_001);
  expect(reads).toBeLessThanOrEqual(60);
  expect(gets).toBeLessThan(50);
  expect(lists).toBeLessThan(10);
  await expectCurrent(...names.slice(0, 3), ...names.slice(-3));
});

it.for([
  ["one list of all namespaces confirms first hashes in a small cluster", undefined, 0, "GET v1/configmaps"],
  ["lists are of one namespace in a large cluster", undefined, 5_000, "GET default/configmaps"],
  ["lists are of one namespace if Wave watches only some", ["default"], 0, "GET default/configmaps"],
] as const)("%s", async ([, namespaces, others, list]) => {
  const { cluster, leader, names, sent, expectCurrent } = await unseen(100, { policy: { ...policy, namespaces } });
  await cluster.create(resources.namespaces, { metadata: { name: "large" } });
  for (let index = 0; index < others; index++)
    await cluster.create(configMaps, { metadata: { name: `other-${index}` } }, "large");
  await cluster.create(resources.namespaces, { metadata: { name: "other" } });
  for (const name of names.slice(0, 10)) {
    await cluster.create(configMaps, { metadata: { name }, data: { v: "0" } }, "other");
    await cluster.create(deployments, workload(name, reading(name)), "other");
  }
  await leader.list();
  sent();
  await leader.lead();
  expect(new Set(cluster.asked.filter((request) => request.endsWith("/configmaps")))).toEqual(new Set([list]));
  expect(sent()).toMatchObject({ patches: namespaces === undefined ? 110 : 100 });
  await expectCurrent(...names);
});

it("a first hash is of the stored configuration, if the caches have not received an edit that a list shows", async () => {
  const { leader, names, editConfig, sent, expectCurrent } = await unseen(100);
  await leader.list();
  await editConfig("app-60", "1");
  await leader.lead();
  const { gets, lists } = sent();
  expect(lists).toBeGreaterThan(0);
  expect(gets).toBeLessThan(20);
  await expectCurrent(...names);
  await leader.hear(deployments);
  await leader.hear(configMaps);
  expect(sent().patches).toBe(0);
});

it("a workload waits, if the caches have not received the deletion of its ConfigMap that a list shows", async () => {
  const { cluster, leader, sent } = await unseen(100);
  await leader.list();
  const { data } = await cluster.get<ConfigObject>(configMaps, "app-60");
  await cluster.remove(configMaps, "app-60");
  await leader.lead();
  expect(sent()).toMatchObject({ patches: 99 });
  await cluster.create(configMaps, { metadata: { name: "app-60" }, data });
  expect((await hashesOf(cluster, "app-60")).recorded).toBeUndefined();
});

it("a list confirms nothing for a workload that was written after the list began", async () => {
  const { leader, optIn, editConfig, sent, expectCurrent } = await unseen(100);
  await optIn("app-60", "false");
  await leader.list();
  await leader.lead();
  expect(sent().lists).toBeGreaterThan(0);
  await editConfig("app-60", "1");
  await optIn("app-60", "true");
  await leader.hear(deployments);
  await expectCurrent("app-60");
  expect(sent()).toMatchObject({ gets: 1, patches: 1 });
});

it("a list does not confirm an object that changed and changed back, if the caches have not received these changes", async () => {
  const { cluster, leader, editConfig, expectCurrent } = await unseen(100);
  await leader.list();
  for (const value of ["1", "0"]) await editConfig("app-60", value);
  await leader.lead();
  expect(cluster.asked).toContain("GET configmaps/app-60");
  expect(cluster.asked).not.toContain("GET configmaps/app-61");
  await expectCurrent("app-60", "app-61");
});

it.for([
  ["a list confirms first hashes for 15 s, and is then repeated", "roll"],
  ["a list confirms records of first sight for longer", "record"],
] as const)("%s", async ([, firstSight]) => {
  const options = { policy: { ...policy, firstSight }, updateRate: 1, updateBurst: 50 };
  const { cluster, leader, sent } = await unseen(200, options);
  await leader.list();
  await leader.lead();
  expect(sent()).toMatchObject({ patches: 50 });
  const passed = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await cluster.clock.advance(1_000);
      await cluster.settled();
    }
  };
  await passed(14);
  expect(sent()).toMatchObject({ gets: 0, lists: 0, patches: 14 });
  await passed(10);
  const { gets, lists, patches } = sent();
  expect(patches).toBe(10);
  expect(lists > 0).toBe(firstSight === "roll");
  expect(gets).toBe(0);
});

it("workloads that change while they wait for permits do not cause a list each", async () => {
  const options = { policy: { ...policy, firstSight: "record" }, updateRate: 1, updateBurst: 50 } as const;
  const { cluster, leader, names, sent } = await unseen(200, options);
  await leader.list();
  await leader.lead();
  sent();
  for (let second = 0; second < 12; second++) {
    for (const name of names) await cluster.edit(deployments, name, { spec: { replicas: 2 + second } });
    await leader.hear(deployments);
    await cluster.clock.advance(1_000);
    await cluster.settled();
  }
  const { gets, lists, patches } = sent();
  expect(patches).toBe(12);
  expect(lists).toBeLessThanOrEqual(gets);
});

it("first hashes are confirmed one by one if lists fail", async () => {
  const { cluster, leader, names, sent, expectCurrent } = await unseen(100);
  const failure = new ApiError({ request: "list", status: 500, reason: "InternalError", serverMessage: "" });
  cluster.answers = ({ path }) => (path.endsWith("/configmaps") ? failure : undefined);
  await leader.list();
  await leader.lead();
  expect(sent()).toMatchObject({ gets: 100, lists: 1, patches: 100 });
  await expectCurrent(...names);
});

/** A replica of a cluster whose Pods run, and a function that lets seconds pass. */
function running(options: ConstructorParameters<typeof LateReplica>[1] = {}) {
  const clock = new FakeClock();
  const server = startMemoryServer({ clock });
  const cluster = new MemoryCluster(server, clock);
  const leader = new LateReplica(cluster, { policy: { ...policy, pacing: defaultFlags }, ...options });
  onTestFinished(() => {
    leader.end();
    server.stop();
  });
  const seconds = async (count: number) => {
    for (let second = 0; second < count; second++) {
      await clock.advance(1_000);
      await cluster.settled();
    }
  };
  const pods = async () => (await cluster.list(resources.pods)) as readonly Pod[];
  return { cluster, leader, seconds, pods };
}

it("an annotation on a ConfigMap after the start of the Pods restarts nothing when their workload opts in", async () => {
  const { cluster, leader, seconds, pods } = running();
  const { metadata, ...rest } = workload("app", reading("app"));
  await cluster.create(configMaps, { metadata: { name: "app" }, data: { v: "0" } });
  await seconds(4);
  await cluster.create(deployments, { ...rest, metadata: { ...metadata, annotations: {} } });
  await seconds(4);
  const before = await pods();
  await leader.list();
  await leader.lead();
  await cluster.edit(configMaps, "app", { metadata: { annotations: { note: "of the client of the data" } } });
  await leader.hear(configMaps);
  await seconds(4);
  await cluster.edit(deployments, "app", { metadata });
  await leader.hear(deployments);
  await seconds(30);
  expect(cluster.asked.filter((request) => request.startsWith("PATCH"))).toEqual(["PATCH deployments/app"]);
  expect(cluster.asked).toContain("GET configmaps/app");
  expect((await pods()).map(({ metadata }) => metadata?.uid)).toEqual(before.map(({ metadata }) => metadata?.uid));
});

it.each(["kubectl", "other"])(
  "an annotation by %s while proven workloads wait for permits restarts nothing",
  async (client) => {
    const { cluster, leader, seconds, pods } = running();
    const names = Array.from({ length: 30 }, (_, index) => `app-${index}`);
    const editAs = (fieldManager: string, body: object) =>
      cluster.request({
        method: "PATCH",
        path: "/api/v1/namespaces/default/configmaps/app",
        query: { fieldManager },
        body,
        contentType: "application/merge-patch+json",
      });
    await cluster.create(configMaps, { metadata: { name: "app" }, data: { v: "0" } });
    await seconds(3);
    for (const name of names) await cluster.create(deployments, workload(name, reading("app")));
    await seconds(3);
    await leader.list();
    await leader.lead();
    await seconds(5);
    leader.end();
    // No Wave runs during an edit, and a restart by hand.
    await editAs("kubectl", { data: { v: "1" } });
    await seconds(5);
    const restarted = { spec: { template: { metadata: { annotations: { restarted: "now" } } } } };
    for (const name of names) await cluster.edit(deployments, name, restarted);
    await seconds(60);
    const uids = async () => new Set((await pods()).map(({ metadata }) => metadata?.uid));
    const before = await uids();

    const next = new LateReplica(cluster, {
      policy: { ...policy, pacing: defaultFlags },
      updateRate: 1,
      updateBurst: 1,
    });
    onTestFinished(() => next.end());
    await next.list();
    cluster.asked.splice(0);
    await next.lead();
    await seconds(20);
    await editAs(client, { metadata: { annotations: { note: "x" } } });
    await next.hear(configMaps);
    for (let second = 0; second < 60; second++) {
      await seconds(1);
      await next.hear(deployments);
    }
    expect(cluster.asked.filter((request) => request.startsWith("PATCH deployments/"))).toHaveLength(30);
    expect(await uids()).toEqual(before);
  },
);

it("if lists of Pods fail, workloads stay held by their batch, and the lists are not repeated for each", async () => {
  const { cluster, leader, seconds } = running({ updateRate: 10, updateBurst: 10 });
  await cluster.create(configMaps, { metadata: { name: "app" }, data: { v: "0" } });
  for (let index = 0; index < 100; index++) await cluster.create(deployments, workload(`app-${index}`, reading("app")));
  await seconds(5);
  await cluster.edit(configMaps, "app", { data: { v: "1" } });
  await seconds(70);
  await leader.list();
  const failure = new ApiError({ request: "list", status: 500, reason: "InternalError", serverMessage: "" });
  cluster.answers = ({ path }) => (path.endsWith("/pods") ? failure : undefined);
  cluster.asked.splice(0);
  await leader.lead();
  for (let second = 0; second < 120; second++) {
    await seconds(1);
    await leader.hear(deployments);
  }
  expect(leader.metrics.render()).toContain('wave_workloads{state="held"} 99\n');
  expect(cluster.asked.filter((request) => request.endsWith("/pods")).length).toBeLessThan(30);
});

it("a list of ConfigMaps does not confirm what Pods have read that were listed after it", async () => {
  const { cluster, leader, seconds, pods } = running();
  await cluster.create(resources.namespaces, { metadata: { name: "other" } });
  for (const namespace of ["default", "other"])
    await cluster.create(configMaps, { metadata: { name: "app" }, data: { v: "0" } }, namespace);
  await seconds(3);
  await cluster.create(deployments, workload("app", reading("app")));
  for (let index = 0; index < 5; index++)
    await cluster.create(deployments, workload(`app-${index}`, reading("app")), "other");
  await seconds(3);
  await leader.list();
  const failure = new ApiError({ request: "list", status: 500, reason: "InternalError", serverMessage: "" });
  cluster.answers = ({ path }) => (path.endsWith("/default/pods") ? failure : undefined);
  await leader.lead();
  await seconds(2);
  expect(cluster.asked).toContain("GET v1/configmaps");

  await cluster.edit(configMaps, "app", { data: { v: "1" } });
  await seconds(2);
  for (const { metadata } of await pods())
    if (metadata?.namespace === "default") await cluster.remove(resources.pods, `${metadata.name}`);
  await seconds(2);
  cluster.answers = () => undefined;
  await seconds(6);
  const { recorded, current } = await hashesOf(cluster, "app");
  expect(recorded).toBe(current);
});

it("Pods that read an edit which was reverted while their workload waited for a permit are restarted, if the watch was broken", async () => {
  const { cluster, leader, seconds, pods } = running({ updateRate: 1, updateBurst: 1 });
  const names = Array.from({ length: 24 }, (_, index) => `app-${index}`);
  const passed = async (count: number) => {
    for (let second = 0; second < count; second++) {
      await seconds(1);
      await leader.hear(deployments);
    }
  };
  const edit = async (of: readonly string[], v: string) => {
    for (const name of of) await cluster.edit(configMaps, name, { data: { v } });
  };
  for (const name of names) await cluster.create(configMaps, { metadata: { name }, data: { v: "0" } });
  await seconds(4);
  for (const name of names) await cluster.create(deployments, workload(name, reading(name)));
  await seconds(4);
  await leader.list();
  await leader.lead();
  await passed(4);
  const waiting = () => names.filter((name) => !cluster.asked.includes(`PATCH deployments/${name}`));
  const podsOf = async (of: readonly string[]) =>
    (await pods()).filter(({ metadata }) => of.includes(`${metadata?.labels?.app}`));

  await edit(waiting(), "1");
  for (const { metadata } of await podsOf(waiting())) await cluster.remove(resources.pods, `${metadata?.name}`);
  await passed(3);
  const late = waiting();
  expect(late.length).toBeGreaterThan(10);
  const read = new Set((await podsOf(late)).map(({ metadata }) => metadata?.uid));
  await edit(late, "0");
  await passed(60);
  await leader.relist(configMaps);
  await passed(60);
  expect((await podsOf(late)).filter(({ metadata }) => read.has(metadata?.uid))).toEqual([]);
});

it("2,000 first sights that their Pods prove need at most 60 reads and restart nothing, although the writes take minutes", async () => {
  const { cluster, leader, seconds, pods } = running({ updateRate: 10, updateBurst: 10 });
  const namespaces = Array.from({ length: 10 }, (_, index) => `team-${index}`);
  const indexes = Array.from({ length: 200 }, (_, index) => index);
  for (const namespace of namespaces) {
    await cluster.create(resources.namespaces, { metadata: { name: namespace } });
    for (const index of indexes)
      await cluster.create(configMaps, { metadata: { name: `app-${index}` }, data: { v: "0" } }, namespace);
  }
  await seconds(4);
  for (const namespace of namespaces)
    for (const index of indexes)
      await cluster.create(deployments, workload(`app-${index}`, reading(`app-${index}`)), namespace);
  await seconds(2);
  const before = await pods();
  expect(before.filter(({ status }) => status?.phase === "Running")).toHaveLength(2_000);

  await leader.list();
  await leader.lead();
  let reads = 0;
  let patches = 0;
  for (let second = 0; second < 200; second++) {
    await seconds(1);
    const asked = cluster.asked.splice(0);
    reads += asked.filter((request) => request.startsWith("GET")).length;
    patches += asked.filter((request) => request.startsWith("PATCH")).length;
    await leader.hear(deployments);
  }
  expect(patches).toBe(2_000);
  expect(reads).toBeLessThanOrEqual(60);
  expect((await pods()).map(({ metadata }) => metadata?.uid)).toEqual(before.map(({ metadata }) => metadata?.uid));
});
