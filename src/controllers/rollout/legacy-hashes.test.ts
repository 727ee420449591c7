import { createHash } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { workload } from "../../../test/support/fake-cluster.ts";
import { LateReplica, MemoryCluster } from "../../../test/support/late-replica.ts";
import { closedWindow } from "../../../test/support/pacing/closed-window.ts";
import { startMemoryServer } from "../../../test/support/sandbox-memory-server.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import type { WorkloadObject } from "../../domain/model/workload-references.ts";
import { resources } from "../../kube/api/resources.ts";

const { configMaps, deployments } = resources;
const policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true } as const;

/** What Wave in Go records for a workload that reads all of ConfigMap `web` and nothing else. */
function recordedInGo(data: Record<string, string>): string {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  const text = JSON.stringify({ configMaps: { web: Object.fromEntries(encoded) }, secrets: {} });
  return createHash("sha256").update(text).digest("hex");
}

/** A cluster that Wave in Go has left: a ConfigMap `web`, and a Deployment `web` with the hash of `recorded`. */
async function leftBehind({ stored = { a: "1" }, recorded = { a: "1" } } = {}) {
  const server = startMemoryServer({ controllers: false });
  const cluster = new MemoryCluster(server);
  const replicas: LateReplica[] = [];
  onTestFinished(() => {
    for (const replica of replicas) replica.end();
    server.stop();
  });
  const web = workload("web");
  const annotations = { "wave.pusher.com/config-hash": recordedInGo(recorded) };
  Object.assign(web.spec.template.metadata, { annotations });
  await cluster.create(configMaps, { metadata: { name: "web" }, data: stored });
  await cluster.create(deployments, web);
  const start = async (options: ConstructorParameters<typeof LateReplica>[1] = {}) => {
    const replica = new LateReplica(cluster, options);
    replicas.push(replica);
    await replica.list();
    await replica.lead();
    return replica;
  };
  const hash = async () =>
    toWorkload(kinds.Deployment, await cluster.get<WorkloadObject>(deployments, "web")).recordedHash;
  const edit = (data: Record<string, string>) => cluster.edit(configMaps, "web", { data });
  const patches = () => cluster.asked.splice(0).filter((request) => request.startsWith("PATCH")).length;
  return { cluster, start, hash, edit, patches };
}

describe("a hash that Wave in Go recorded", () => {
  it("stays while it matches the configuration, and is verified by one read", async () => {
    const { cluster, start, hash } = await leftBehind();
    const replica = await start();
    expect(cluster.asked.splice(0)).toEqual(["GET deployments/web", "GET configmaps/web"]);
    await cluster.edit(deployments, "web", { metadata: { annotations: { "wave.pusher.com/priority": "1" } } });
    await replica.hear(deployments);
    expect(cluster.asked).toEqual([]);
    expect(await hash()).toBe(recordedInGo({ a: "1" }));
    expect(replica.events).toEqual([]);
  });

  it("is replaced with the first edit, which is reported", async () => {
    const { start, hash, edit, patches } = await leftBehind();
    const replica = await start();
    await edit({ a: "2" });
    await replica.hear(configMaps);
    expect(patches()).toBe(1);
    expect(await hash()).toMatch(/^v2:/);
    expect(replica.events).toMatchObject([
      { reason: "ConfigChanged", message: 'Rollout started: ConfigMap "web" changed (key "a").' },
    ]);
    await replica.hear(deployments);
    expect(patches()).toBe(0);
  });

  it("that does not match the configuration is replaced once", async () => {
    const { start, hash, patches } = await leftBehind({ recorded: { a: "0" } });
    const replica = await start();
    expect(patches()).toBe(1);
    expect(await hash()).toMatch(/^v2:/);
    expect(replica.events).toMatchObject([{ reason: "ConfigChanged" }]);
    await replica.hear(deployments);
    expect(patches()).toBe(0);
  });

  it("is verified with the stored state, not with a stale cache", async () => {
    const { cluster, hash, edit, patches } = await leftBehind({ stored: { a: "0" }, recorded: { a: "1" } });
    const replica = new LateReplica(cluster);
    onTestFinished(() => replica.end());
    await replica.list();
    await edit({ a: "1" });
    await replica.lead();
    expect(patches()).toBe(0);
    await replica.hear(configMaps);
    expect(patches()).toBe(0);
    expect(await hash()).toBe(recordedInGo({ a: "1" }));
  });

  it("is verified before any hold applies, and waits like any other hash if it does not match", async () => {
    const pacing = { ...unpaced, window: closedWindow() };
    for (const [recorded, state] of [
      [{ a: "1" }, 'state="current"} 1'],
      [{ a: "0" }, 'wave_held_workloads{reason="window"} 1'],
    ] as const) {
      const { start, patches } = await leftBehind({ recorded });
      const replica = await start({ policy: { ...policy, pacing } });
      expect(patches()).toBe(0);
      expect(replica.metrics.render()).toContain(state);
    }
  });
});
