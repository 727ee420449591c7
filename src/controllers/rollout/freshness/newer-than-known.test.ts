import fc from "fast-check";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { planRollout } from "../../../../test/support/domain/decisions.ts";
import { unpaced } from "../../../../test/support/domain/objects.ts";
import { workload } from "../../../../test/support/fake-cluster.ts";
import { LateReplica, MemoryCluster } from "../../../../test/support/late-replica.ts";
import { startMemoryServer } from "../../../../test/support/sandbox-memory-server.ts";
import { type ConfigObject, toConfig } from "../../../domain/config/digest.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { WorkloadObject } from "../../../domain/model/workload-references.ts";
import { ApiError } from "../../../kube/api/api-failure.ts";
import { resources } from "../../../kube/api/resources.ts";

const { configMaps, deployments, secrets, statefulSets } = resources;
const hashName = "wave.pusher.com/config-hash";
const policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pacing: unpaced } as const;

/** A cluster with a ConfigMap `web` and a Deployment `web` that reads it. */
async function empty() {
  const server = startMemoryServer({ controllers: false });
  const cluster = new MemoryCluster(server);
  const replicas: LateReplica[] = [];
  onTestFinished(() => {
    for (const replica of replicas) replica.end();
    server.stop();
  });
  await cluster.create(configMaps, { metadata: { name: "web" }, data: { v: "0" } });
  await cluster.create(deployments, workload("web"));
  const start = (options: ConstructorParameters<typeof LateReplica>[1] = {}) => {
    const replica = new LateReplica(cluster, options);
    replicas.push(replica);
    return replica;
  };
  const web = async () => toWorkload(kinds.Deployment, await cluster.get<WorkloadObject>(deployments, "web"));
  const hash = async () => (await web()).recordedHash;
  /** The hash of the current ConfigMap, which the webhook writes. */
  const current = async () => {
    const config = toConfig("ConfigMap", await cluster.get<ConfigObject>(configMaps, "web"));
    const plan = planRollout(await web(), () => config, policy);
    return "view" in plan ? plan.view.hash : "";
  };
  const editConfig = (v: string) => cluster.edit(configMaps, "web", { data: { v } });
  /** A write of the hash together with another change of the pod template, as helm with webhooks causes it. */
  let upgrades = 0;
  const upgrade = (recorded: string) => {
    const annotations = { upgrade: String(++upgrades), [hashName]: recorded };
    return cluster.edit(deployments, "web", { spec: { template: { metadata: { annotations } } } });
  };
  /** The requests of the replicas with these verbs since the last call. */
  const asked = (...verbs: string[]) =>
    cluster.asked.splice(0).filter((request) => verbs.some((verb) => request.startsWith(verb)));
  return { cluster, start, hash, current, editConfig, upgrade, asked };
}

/** The same with a leader that has written the hash and observed its write. */
async function steady() {
  const made = await empty();
  const leader = made.start();
  await leader.list();
  await leader.lead();
  await leader.hear(deployments);
  expect(await made.hash()).toBe(await made.current());
  made.asked();
  return { ...made, leader };
}

describe("a change that a replica observed by its watch", () => {
  it("is written at once, without a read", async () => {
    const { leader, editConfig, hash, current, asked } = await steady();
    for (const v of ["1", "2", "0"]) {
      await editConfig(v);
      await leader.hear(configMaps);
      await leader.hear(deployments);
      expect(await hash()).toBe(await current());
      expect(asked("GET", "PATCH")).toEqual(["PATCH deployments/web"]);
    }
  });

  it("is written at once to all workloads", async () => {
    const { cluster, start, editConfig, asked } = await empty();
    for (let n = 0; n < 200; n++) await cluster.create(deployments, workload(`web-${n}`));
    const leader = start();
    await leader.list();
    await leader.lead();
    await leader.hear(deployments);
    asked();
    await editConfig("1");
    await leader.hear(configMaps);
    expect(asked("GET")).toEqual([]);
    await editConfig("2");
    await leader.hear(configMaps);
    expect(asked("PATCH")).toHaveLength(201);
  });

  it("is written at once also after a change of leader, if the caches contain what the previous leader recorded", async () => {
    const { start, editConfig, hash, current, asked } = await steady();
    const next = start();
    await next.list();
    await next.lead();
    expect(asked("GET", "PATCH")).toEqual([]);
    await editConfig("1");
    await next.hear(configMaps);
    expect(await hash()).toBe(await current());
    expect(asked("GET", "PATCH")).toEqual(["PATCH deployments/web"]);
  });
});

describe("state that is newer than the caches of a replica", () => {
  it("stays if helm changes a ConfigMap and an image while the watch of ConfigMaps is late", async () => {
    const { leader, editConfig, upgrade, current, hash, asked } = await steady();
    await editConfig("1");
    const admitted = await current();
    await upgrade(admitted);
    await leader.hear(deployments);
    await leader.hear(configMaps);
    expect(await hash()).toBe(admitted);
    expect(asked("PATCH")).toEqual([]);
  });

  it("stays if the late watch delivers one version after another", async () => {
    const { leader, editConfig, upgrade, current, hash, asked } = await steady();
    for (const v of ["1", "2", "3"]) await editConfig(v);
    await upgrade(await current());
    await leader.hear(deployments);
    for (let version = 0; version < 3; version++) {
      await leader.hear(configMaps, 1);
      expect(await hash()).toBe(await current());
    }
    expect(asked("PATCH")).toEqual([]);
  });

  it("stays if the caches of a new leader are behind those of the previous one", async () => {
    const { leader, start, editConfig, hash, current, asked } = await steady();
    const next = start();
    await next.list();
    await editConfig("1");
    await leader.hear(configMaps);
    const written = await hash();
    expect(written).toBe(await current());
    leader.end();
    asked();
    await next.lead();
    await next.hear(deployments);
    await next.hear(configMaps);
    expect(await hash()).toBe(written);
    expect(asked("PATCH")).toEqual([]);
  });

  it("stays if it was listed again while the watch of ConfigMaps delivered nothing", async () => {
    const { leader, start, editConfig, upgrade, current, hash, asked } = await steady();
    await editConfig("1");
    await upgrade(await current());
    leader.end();
    const late = start();
    await late.list((object) => object.metadata.name === "web" && "data" in object);
    await late.lead();
    expect(await hash()).toBe(await current());
    expect(asked("PATCH")).toEqual([]);
  });

  it("stays if configuration is deleted and created before the watch of ConfigMaps delivers either event", async () => {
    const { leader, editConfig, upgrade, hash, asked } = await steady();
    const first = (await hash()) ?? "";
    await editConfig("1");
    await editConfig("0");
    await upgrade(first);
    await leader.hear(deployments);
    for (let version = 0; version < 2; version++) {
      await leader.hear(configMaps, 1);
      expect(await hash()).toBe(first);
    }
    expect(asked("PATCH")).toEqual([]);
  });

  it("is the basis of the plan, with one write, if a person changed the hash while the watch of ConfigMaps is late", async () => {
    const { leader, editConfig, upgrade, current, hash, asked } = await steady();
    await editConfig("1");
    await editConfig("2");
    await upgrade(`v2:${"0".repeat(64)}`);
    await leader.hear(deployments);
    expect(await hash()).toBe(await current());
    for (let version = 0; version < 2; version++) {
      await leader.hear(deployments);
      await leader.hear(configMaps, 1);
      expect(await hash()).toBe(await current());
    }
    expect(asked("PATCH")).toEqual(["PATCH deployments/web"]);
  });

  it("is the basis of the plan if `rollout undo` restores an old hash", async () => {
    const { leader, editConfig, upgrade, current, hash, asked } = await steady();
    const old = (await hash()) ?? "";
    await editConfig("1");
    await leader.hear(configMaps);
    await leader.hear(deployments);
    asked();
    await upgrade(old);
    await leader.hear(deployments);
    expect(await hash()).toBe(await current());
    expect(asked("PATCH")).toHaveLength(1);
  });

  it("is the basis of the first hash of a workload", async () => {
    const { start, editConfig, current, hash, asked } = await empty();
    const leader = start();
    await leader.list();
    await editConfig("1");
    await leader.lead();
    expect(await hash()).toBe(await current());
    await leader.hear(deployments);
    await leader.hear(configMaps);
    expect(asked("PATCH")).toHaveLength(1);
  });

  it("makes the workload wait if an object was deleted and the watch of ConfigMaps has not delivered that", async () => {
    const { cluster, leader, upgrade, hash, asked } = await steady();
    await cluster.remove(configMaps, "web");
    await upgrade(`v2:${"0".repeat(64)}`);
    await leader.hear(deployments);
    expect(await hash()).toBe(`v2:${"0".repeat(64)}`);
    expect(asked("PATCH")).toEqual([]);
    await cluster.create(configMaps, { metadata: { name: "web" }, data: { v: "new" } });
    await leader.hear(configMaps);
    expect(asked("PATCH")).toHaveLength(1);
  });

  it("is read again if the caches never deliver an event, because a list returned what they already contain", async () => {
    const { cluster, leader, upgrade, hash, current, asked } = await steady();
    await cluster.remove(configMaps, "web");
    await upgrade(`v2:${"0".repeat(64)}`);
    await leader.hear(deployments);
    expect(asked("PATCH")).toEqual([]);
    await cluster.create(configMaps, { metadata: { name: "web" }, data: { v: "0" } });
    await leader.list();
    await cluster.clock.advance(1_000);
    await cluster.settled();
    expect(asked("PATCH")).toEqual(["PATCH deployments/web"]);
    expect(await hash()).toBe(await current());
  });

  it("keeps a scheduling hold closed that another client requested again while the watch of StatefulSets is late", async () => {
    const { cluster, start, asked } = await empty();
    const optIn = (value: string) =>
      cluster.edit(statefulSets, "db", {
        metadata: { annotations: { "wave.pusher.com/update-on-config-change": value } },
      });
    const schedulingHeld = workload(
      "db",
      { schedulerName: "wave.pusher.com/invalid" },
      { "wave.pusher.com/scheduling-disabled": "" },
    );
    const missing = { name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "missing" } }] };
    schedulingHeld.spec.template.spec.containers = [missing];
    await cluster.create(statefulSets, schedulingHeld);
    const leader = start();
    await optIn("false");
    await leader.list();
    await optIn("true");
    await leader.lead();
    expect(asked("PATCH").filter((request) => request.includes("db"))).toEqual([]);
  });
});

describe("a plan that cannot be confirmed", () => {
  const unavailable = new ApiError({ request: "get", status: 503, reason: "ServiceUnavailable", serverMessage: "" });
  const forbidden = new ApiError({ request: "get", status: 403, reason: "Forbidden", serverMessage: "no" });

  it("is not written, and is retried", async () => {
    const { cluster, leader, upgrade, hash, current, asked } = await steady();
    cluster.answers = ({ method }) => (method === "GET" ? unavailable : undefined);
    await upgrade("v2:x");
    await leader.hear(deployments);
    expect(await hash()).toBe("v2:x");
    expect(asked("PATCH")).toEqual([]);
    cluster.answers = () => undefined;
    await cluster.clock.advance(300);
    await cluster.settled();
    expect(await hash()).toBe(await current());
  });

  it("is retried within 15 s, even after many failed attempts caused by edits", async () => {
    const { cluster, leader, editConfig, hash, current } = await steady();
    cluster.answers = ({ method }) => (method === "PATCH" ? unavailable : undefined);
    for (let edit = 1; edit <= 12; edit++) {
      await editConfig(`${edit}`);
      await leader.hear(configMaps);
    }
    cluster.answers = () => undefined;
    await cluster.clock.advance(15_000);
    await cluster.settled();
    expect(await hash()).toBe(await current());
  });

  it("is not written if Wave lacks permission to read, and an Event names the permission to grant", async () => {
    const { cluster, leader, upgrade, asked } = await steady();
    cluster.answers = ({ method }) => (method === "GET" ? forbidden : undefined);
    await upgrade("v2:x");
    await leader.hear(deployments);
    expect(asked("PATCH")).toEqual([]);
    expect(leader.events.at(-1)?.message).toMatch(/Grant get on configmaps, secrets and deployments/);
  });
});

describe("a Secret that the lists omit", () => {
  const type = "helm.sh/release.v1";
  const isRelease = (object: object) => "type" in object && object.type === type;
  const reading = { containers: [{ name: "main", image: "nginx", envFrom: [{ secretRef: { name: "release" } }] }] };

  it("is read when it is needed, and is not missing", async () => {
    const { cluster, start, asked } = await empty();
    await cluster.create(secrets, { metadata: { name: "release" }, type, data: { release: "bWVhbnQ=" } });
    await cluster.create(deployments, workload("reader", reading));
    const leader = start();
    await leader.list(isRelease);
    await leader.lead();
    expect(asked("PATCH")).toContain("PATCH deployments/reader");
    await leader.hear(deployments);
    expect(asked("PATCH")).toEqual([]);
  });

  it("is not read if no Secret can have that name", async () => {
    const { cluster, start, asked } = await empty();
    const volumes = [{ name: "v", secret: { secretName: "../x" } }];
    await cluster.create(deployments, workload("reader", { containers: [{ name: "main", image: "nginx" }], volumes }));
    const leader = start();
    await leader.list(isRelease);
    await leader.lead();
    expect(asked("GET").filter((request) => request.startsWith("GET secrets"))).toEqual([]);
    expect(leader.events.map(({ message }) => message).join()).toContain(`Waiting for Secret "../x"`);
  });

  it("is not read continuously if the lists and the stored state never agree", async () => {
    const { cluster, start, asked } = await empty();
    await cluster.create(secrets, { metadata: { name: "release" }, type, data: { release: "bWVhbnQ=" } });
    const optional = [{ name: "main", image: "nginx", envFrom: [{ secretRef: { name: "release", optional: true } }] }];
    await cluster.create(deployments, workload("reader", { containers: optional }));
    const leader = start();
    await leader.list(isRelease);
    await leader.lead();
    await leader.hear(deployments);
    await leader.hear(deployments);
    expect(asked("PATCH").length).toBeGreaterThan(0);
    // For an hour.
    for (let turn = 0; turn < 240; turn++) {
      await cluster.clock.advance(15_000);
      await cluster.settled();
      await leader.hear(deployments);
    }
    const requests = asked("GET", "PATCH");
    // Only the verdicts on workloads whose rollout no controller completes: rolling, and then failed.
    expect(requests.filter((request) => request.startsWith("PATCH")).length).toBeLessThanOrEqual(4);
    expect(requests.filter((request) => request === "GET secrets/release").length).toBeLessThan(40);
  });

  it("is read once a minute if it does not exist, regardless of how often its workload is planned", async () => {
    const { cluster, start, asked } = await empty();
    await cluster.create(deployments, workload("reader", reading));
    const leader = start();
    await leader.list(isRelease);
    await leader.lead();
    for (let turn = 0; turn < 5; turn++) {
      await cluster.edit(deployments, "reader", { spec: { replicas: turn } });
      await leader.hear(deployments);
    }
    expect(asked("GET").filter((request) => request === "GET secrets/release")).toHaveLength(1);
    await cluster.create(secrets, { metadata: { name: "release" }, type, data: { release: "bWVhbnQ=" } });
    await cluster.clock.advance(60_000);
    await cluster.edit(deployments, "reader", { spec: { replicas: 7 } });
    await leader.hear(deployments);
    expect(asked("PATCH")).toContain("PATCH deployments/reader");
  });
});

describe("changes made while there was no leader", () => {
  it("are confirmed by reads that workloads share, a few at a time", async () => {
    const { cluster, start, editConfig, asked } = await empty();
    for (let n = 0; n < 300; n++) await cluster.create(deployments, workload(`web-${n}`));
    const leader = start();
    await leader.list();
    await leader.lead();
    leader.end();
    asked();
    await editConfig("1");
    const next = start();
    await next.list();
    await next.lead();
    const requests = cluster.asked;
    expect(requests.filter((request) => request.startsWith("PATCH"))).toHaveLength(301);
    // At most two for each round of the 32 workers that one namespace may occupy, and not one for each workload.
    expect(requests.filter((request) => request.startsWith("GET")).length).toBeLessThan(60);
  });
});

describe("under any order of changes and of their delivery", () => {
  type Step = "edit" | "upgrade" | "garbage" | "hear ConfigMap" | "hear Deployment" | "new leader";
  const steps = fc.array(
    fc.record({
      step: fc.oneof(
        { weight: 3, arbitrary: fc.constant<Step>("hear ConfigMap") },
        { weight: 2, arbitrary: fc.constant<Step>("hear Deployment") },
        { weight: 3, arbitrary: fc.constant<Step>("edit") },
        { weight: 3, arbitrary: fc.constantFrom<Step>("upgrade", "garbage", "new leader") },
      ),
      /** Few values, so that configuration returns to earlier states. */
      value: fc.constantFrom("0", "1", "2"),
    }),
    { minLength: 3, maxLength: 25 },
  );

  it("the hash never returns to older configuration, and is correct at the end", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const { cluster, start, hash, current, editConfig, upgrade } = await empty();
        /** The hash of each state that the ConfigMap has had. */
        const states = [await current()];
        /** The oldest of these states that the recorded hash may match. */
        let newest = 0;
        let leader = start();
        let standby = start();
        await leader.list();
        await standby.list();
        await leader.lead();
        let recorded = await hash();
        for (const { step, value } of steps) {
          switch (step) {
            case "edit":
              await editConfig(value);
              states.push(await current());
              break;
            case "upgrade":
              await upgrade(await current());
              newest = states.length - 1;
              break;
            case "garbage":
              await upgrade(`v2:${"0".repeat(64)}`);
              break;
            case "hear ConfigMap":
              await leader.hear(configMaps, 1);
              break;
            case "hear Deployment":
              await leader.hear(deployments, 1);
              break;
            case "new leader":
              leader.end();
              leader = standby;
              standby = start();
              await standby.list();
              await leader.lead();
          }
          const before = recorded;
          recorded = await hash();
          if (recorded === before || step === "upgrade" || step === "garbage") continue;
          const stoodFor = states.indexOf(recorded ?? "", newest);
          expect(stoodFor).toBeGreaterThanOrEqual(newest);
          newest = stoodFor;
        }
        await leader.hear(configMaps);
        await leader.hear(deployments);
        await leader.hear(deployments);
        // What was taken away twice is written again after a while only.
        await cluster.clock.advance(15_000);
        await leader.hear(deployments);
        expect(await hash()).toBe(await current());
        leader.end();
        standby.end();
      }),
      { numRuns: Number(process.env.WAVE_PROPERTY_RUNS ?? (inject("everything") ? 100 : 30)) },
    );
  });
});
