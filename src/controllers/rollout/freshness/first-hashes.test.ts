import { expect, it, onTestFinished } from "vitest";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { workload } from "../../../../test/support/fake-cluster.ts";
import { LateReplica, MemoryCluster } from "../../../../test/support/late-replica.ts";
import { startMemoryServer } from "../../../../test/support/sandbox-memory-server.ts";
import { type ConfigObject, toConfig } from "../../../domain/config/digest.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { ApiError } from "../../../kube/api/api-failure.ts";
import { resources } from "../../../kube/api/resources.ts";

const { configMaps, deployments } = resources;
const policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true } as const;

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
  const read = (name: string) => ({
    containers: [{ name: "main", image: "x", envFrom: [{ configMapRef: { name } }] }],
  });
  for (const name of names) {
    await cluster.create(configMaps, { metadata: { name }, data: { v: "0" } });
    await cluster.create(deployments, workload(name, read(name)));
  }
  const optIn = (name: string, value: string) =>
    cluster.edit(deployments, name, {
      metadata: { annotations: { "wave.pusher.com/update-on-config-change": value } },
    });
  const editConfig = (name: string, v: string) => cluster.edit(configMaps, name, { data: { v } });
  /** The hash of a Deployment, and the hash of its current ConfigMap. */
  const hashes = async (name: string) => {
    const config = toConfig("ConfigMap", await cluster.get<ConfigObject>(configMaps, name));
    const stored = toWorkload(kinds.Deployment, await cluster.get<WorkloadObject>(deployments, name));
    const plan = planRollout(stored, () => config, policy);
    return { recorded: stored.recordedHash, current: "view" in plan ? plan.view.hash : "" };
  };
  const expectCurrent = async (...of: readonly string[]) => {
    for (const name of of) {
      const { recorded, current } = await hashes(name);
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
  return { cluster, leader, names, optIn, editConfig, hashes, expectCurrent, sent };
}

it("1,000 first hashes need at most 60 reads: fewer than 50 of single objects, and lists in pages", async () => {
  const { leader, names, sent, expectCurrent } = await unseen(1_000);
  await leader.list();
  sent();
  await leader.lead();
  const { reads, gets, lists, patches } = sent();
  expect(patches).toBe(1_000);
  expect(reads).toBeLessThanOrEqual(60);
  expect(gets).toBeLessThan(50);
  expect(lists).toBeLessThan(10);
  await expectCurrent(...names.slice(0, 3), ...names.slice(-3));
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
  const { cluster, leader, hashes, sent } = await unseen(100);
  await leader.list();
  const { data } = await cluster.get<ConfigObject>(configMaps, "app-60");
  await cluster.remove(configMaps, "app-60");
  await leader.lead();
  expect(sent()).toMatchObject({ patches: 99 });
  await cluster.create(configMaps, { metadata: { name: "app-60" }, data });
  expect((await hashes("app-60")).recorded).toBeUndefined();
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

it("a list confirms first hashes for 15 s, and is then repeated", async () => {
  const { cluster, leader, sent } = await unseen(200, { updateRate: 1, updateBurst: 50 });
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
  expect(lists).toBeGreaterThan(0);
  expect(gets).toBe(0);
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
