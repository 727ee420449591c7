import { describe, expect, it, onTestFinished, vi } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { workload } from "../../../../test/support/fake-cluster.ts";
import { LateReplica, MemoryCluster } from "../../../../test/support/late-replica.ts";
import { parseExposition } from "../../../../test/support/parse-exposition.ts";
import { startMemoryServer } from "../../../../test/support/sandbox-memory-server.ts";
import { parseVerdict } from "../../../domain/plan/verdict.ts";
import type { PacingFlags } from "../../../domain/policy/policy.ts";
import { ApiError } from "../../../kube/api/api-failure.ts";
import { type KubeObject, resourcePath, resources } from "../../../kube/api/resources.ts";
import type { ObjectEvent } from "../../../kube/events/event-object.ts";

const { configMaps, deployments, namespaces } = resources;
const others = 24;
const flags: PacingFlags = {
  settleMs: 1_000,
  maxConcurrent: 5,
  soakMs: 10_000,
  haltAfterFailures: 3,
  rolloutTimeoutMs: 600_000,
  observe: false,
  window: undefined,
};
const hashName = "wave.pusher.com/config-hash";
/** How long a rollout takes here. */
const rolloutMs = 3_000;

interface Deployment extends KubeObject {
  readonly spec: { readonly template: { readonly metadata?: { readonly annotations?: Record<string, string> } } };
  readonly status?: { readonly observedGeneration?: number };
}

/** Deployments `web-0`… that read one ConfigMap `web`, all hashed long ago, and a Deployment controller that a test can break. */
async function fleet(count: number, changed: Partial<PacingFlags> = {}) {
  const clock = new FakeClock();
  const server = startMemoryServer({ controllers: false, clock });
  const cluster = new MemoryCluster(server, clock);
  const replicas: LateReplica[] = [];
  onTestFinished(() => {
    for (const replica of replicas) replica.end();
    server.stop();
  });
  /** Workloads whose new Pods never become ready. */
  let isBad = (_name: string) => false;
  /** Each workload whose hash changed, in order: `name`, or `namespace/name`. */
  const rolled: string[] = [];
  let underWay = 0;
  let mostUnderWay = 0;
  const hashes = new Map<string, string | undefined>();
  const broken = new Set<string>();
  const ends = new Map<string, number>();
  const status = (at: Deployment, body: object) =>
    cluster.request({
      method: "PATCH",
      path: `${resourcePath(deployments, { namespace: at.metadata.namespace ?? "", name: at.metadata.name ?? "" })}/status`,
      body: { status: body },
      contentType: "application/merge-patch+json",
    });
  /** The verdicts that Wave wrote, in order: `web-1 held batch`, or `web-1` if it removed one. */
  const noted: string[] = [];
  const states = new Map<string, string | undefined>();
  const play = (deployment: Deployment): void => {
    const { namespace, name = "", generation = 0, uid = "", annotations } = deployment.metadata;
    const text = annotations?.["wave.pusher.com/state"];
    const { state = "", reason = "" } = parseVerdict(text) ?? {};
    if (states.get(uid) !== text) noted.push([name, state, reason].join(" ").trim());
    states.set(uid, text);
    const hash = deployment.spec.template.metadata?.annotations?.[hashName];
    if (hashes.has(uid) && hashes.get(uid) !== hash) {
      rolled.push(namespace === "default" ? name : `${namespace}/${name}`);
      mostUnderWay = Math.max(mostUnderWay, ++underWay);
    }
    const isRoll = hashes.has(uid) && hashes.get(uid) !== hash;
    hashes.set(uid, hash);
    const observedGeneration = generation;
    if (isRoll) broken.delete(uid);
    if (isBad(name) && (isRoll || broken.has(uid))) {
      broken.add(uid);
      const conditions = [{ type: "Progressing", status: "True", reason: "ReplicaSetUpdated" }];
      void status(deployment, {
        observedGeneration,
        replicas: 2,
        updatedReplicas: 1,
        availableReplicas: 1,
        conditions,
      });
      return;
    }
    // A note of Wave is no rollout.
    const endsAt = isRoll ? clock.monotonic() + rolloutMs : (ends.get(uid) ?? 0);
    ends.set(uid, endsAt);
    clock.timer(Math.max(0, endsAt - clock.monotonic()), () => {
      if (isRoll) underWay--;
      const time = new Date(clock.wall()).toISOString().replace(/\.\d+/, "");
      const conditions = [
        { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable", lastUpdateTime: time },
      ];
      void status(deployment, {
        observedGeneration,
        replicas: 1,
        updatedReplicas: 1,
        availableReplicas: 1,
        conditions,
      });
    });
  };
  const seen = new Map<string, number>();
  await cluster.watch(deployments, ({ type, object }) => {
    const { uid = "", generation = 0 } = object.metadata;
    if (type === "BOOKMARK" || seen.get(uid) === generation) return;
    seen.set(uid, generation);
    play(object as Deployment);
  });
  await cluster.create(configMaps, { metadata: { name: "web" }, data: { v: "0" } });
  const start = async () => {
    const policy = {
      crossNamespace: "granted",
      pinConfig: true,
      namespaces: undefined,
      schedulingHold: true,
      pacing: { ...flags, ...changed },
    } as const;
    const replica = new LateReplica(cluster, { policy });
    replicas.push(replica);
    await replica.list();
    await replica.lead();
    return replica;
  };
  const add = (name: string, annotations: object = {}, namespace = "default", podSpec: object = {}) =>
    cluster.create(deployments, workload(name, podSpec, annotations), namespace);
  for (let n = 0; n < count; n++) await add(`web-${n}`);
  /** Advances the clock, and delivers all events meanwhile to the replicas. */
  const pass = async (ms: number, stepMs = 500) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await clock.advance(stepMs);
      for (const resource of [configMaps, deployments]) {
        for (const replica of replicas) await replica.hear(resource);
      }
    }
  };
  const editConfig = (v: string) => cluster.edit(configMaps, "web", { data: { v } });
  const annotate = (name: string, annotation: string, value: string | null) =>
    cluster.edit(deployments, name, { metadata: { annotations: { [`wave.pusher.com/${annotation}`]: value } } });
  return {
    cluster,
    clock,
    rolled,
    noted,
    start,
    add,
    pass,
    editConfig,
    annotate,
    breakRollouts: (which: (name: string) => boolean) => {
      isBad = which;
    },
    setPods: async (name: string, counts: object) => {
      const deployment = await cluster.request<Deployment>({
        method: "GET",
        path: resourcePath(deployments, { namespace: "default", name }),
      });
      await status(deployment, counts);
    },
    takeMostUnderWay: () => {
      const most = mostUnderWay;
      mostUnderWay = underWay;
      return most;
    },
    replicas,
  };
}

/** The same with a leader, long after the last change. */
async function steady(...args: Parameters<typeof fleet>) {
  const made = await fleet(...args);
  const leader = await made.start();
  await made.pass(20_000);
  await made.pass(700_000, 100_000);
  made.rolled.length = 0;
  made.noted.length = 0;
  leader.events.length = 0;
  made.takeMostUnderWay();
  const halted = () => Number(/^wave_rollouts_halted (\d+)$/m.exec(leader.metrics.render())?.[1]);
  const held = (reason: string) =>
    Number(new RegExp(`wave_held_workloads\\{reason="${reason}"} (\\d+)`).exec(leader.metrics.render())?.[1]);
  return { ...made, leader, halted, held };
}

describe("the verdicts on workloads", () => {
  it("cost at most one write for each workload and state when 50 workloads roll in batches", async () => {
    const { editConfig, pass, rolled, noted, takeMostUnderWay } = await steady(50);
    await editConfig("1");
    for (let minute = 0; minute < 60 && rolled.length < 50; minute++) await pass(60_000, 2_000);
    await pass(120_000, 2_000);
    expect([rolled.length, takeMostUnderWay()]).toEqual([50, expect.any(Number)]);
    expect(new Set(noted).size).toBe(noted.length);
    expect(new Set(noted.map((each) => each.replace(/^\S+ ?/, "")))).toEqual(new Set(["held batch", ""]));
    expect(noted.length).toBeLessThanOrEqual(2 * 49);
  });

  it("cost nothing while 30 edits of a held object take each other back", async () => {
    const { annotate, editConfig, pass, noted } = await steady(5);
    for (let n = 0; n < 5; n++) await annotate(`web-${n}`, "hold", "true");
    for (let flap = 0; flap < 30; flap++) {
      await editConfig(String((flap + 1) % 2));
      await pass(10_000, 1_000);
    }
    await pass(60_000, 2_000);
    expect(noted).toEqual([]);
  });
});

describe("a change of an object that many workloads read", () => {
  it("rolls one workload first, and the others in batches when the first was complete for the soak time", async () => {
    const { leader, editConfig, pass, rolled, takeMostUnderWay, held } = await steady(40);
    await editConfig("1");
    await pass(2_000);
    expect(rolled).toEqual(["web-0"]);
    expect(held("batch")).toBe(39);
    await pass(rolloutMs + 8_000);
    expect(rolled).toEqual(["web-0"]);
    await pass(3_000);
    expect(rolled).toHaveLength(6);
    await pass(60_000);
    expect(rolled).toHaveLength(40);
    expect(new Set(rolled).size).toBe(40);
    expect(takeMostUnderWay()).toBe(5);
    expect(held("batch")).toBe(0);
    const { samples = [] } = parseExposition(leader.metrics.render()).get("wave_change_to_patch_seconds") ?? {};
    const upTo = (le: string) => samples.find(({ labels }) => labels.kind === "Deployment" && labels.le === le)?.value;
    // The first after the settle time, the last after all batches.
    expect([upTo("0.5"), upTo("2.5"), upTo("10"), upTo("300")]).toEqual([0, 1, 1, 40]);
  });

  it("also rolls one workload first if the change only removes a key, for which the API has no time", async () => {
    const { cluster, add, pass, rolled } = await steady(8);
    const key = { name: "V", valueFrom: { configMapKeyRef: { name: "web", key: "v" } } };
    await add("other", {}, "default", { containers: [{ name: "app", image: "app", env: [key] }] });
    await pass(20_000);
    rolled.length = 0;
    await cluster.edit(configMaps, "web", { data: { v: "1", more: "1" } });
    await pass(60_000);
    expect(rolled).toHaveLength(9);
    await pass(700_000, 100_000);
    await cluster.edit(configMaps, "web", { data: { more: null } });
    await pass(5_000);
    expect(rolled).toHaveLength(10);
    await pass(60_000);
    expect(rolled).toHaveLength(17);
  });

  it("rolls by priority, highest first and negative ones last, and then by name", async () => {
    const { annotate, editConfig, pass, rolled } = await steady(8, { maxConcurrent: 1 });
    await annotate("web-5", "priority", "10");
    await annotate("web-3", "priority", "1");
    await annotate("web-0", "priority", "-1");
    await pass(2_000);
    await editConfig("1");
    await pass(60_000);
    expect(rolled).toEqual(["web-5", "web-3", "web-1", "web-2", "web-4", "web-6", "web-7", "web-0"]);
  });

  it("waits for nothing if batches are off", async () => {
    const off = await steady(20, { maxConcurrent: 0 });
    await off.editConfig("1");
    await off.pass(2_000);
    expect(off.rolled).toHaveLength(20);
  });

  it("is ignored by a workload with batches off, which no other workload waits for", async () => {
    const { annotate, editConfig, pass, rolled } = await steady(5);
    await annotate("web-3", "batches", "off");
    await pass(2_000);
    await editConfig("1");
    await pass(2_000);
    expect(rolled.toSorted()).toEqual(["web-0", "web-3"]);
  });

  it("that is reverted during the wait rolls only the canary again", async () => {
    const { editConfig, pass, rolled, held } = await steady(10);
    await editConfig("1");
    await pass(2_000);
    await editConfig("0");
    await pass(60_000);
    expect(rolled).toEqual(["web-0", "web-0"]);
    expect(held("batch")).toBe(0);
  });

  it("does not roll a workload again before its batch if the previous change has just rolled it", async () => {
    const { annotate, editConfig, clock, pass, rolled } = await steady(6, { settleMs: 2_000 });
    await annotate("web-0", "min-interval", "5m");
    await pass(2_000);
    await editConfig("1");
    await pass(1_000);
    await editConfig("2");
    // No replica has observed it yet.
    await clock.advance(1_900);
    expect(rolled).toEqual(["web-0"]);
    await pass(rolloutMs + 9_000);
    expect(rolled).toEqual(["web-0", "web-1"]);
    await pass(10_000);
    expect(rolled).toHaveLength(6);
    await pass(300_000, 10_000);
    expect(rolled.slice(6)).toEqual(["web-0"]);
  });

  it("settles even if an earlier change has waited long, and the waiting workloads roll for the latest change", async () => {
    const { editConfig, pass, rolled } = await steady(10, { settleMs: 2_000, soakMs: 60_000 });
    await editConfig("1");
    await pass(20_000);
    expect(rolled).toHaveLength(1);
    await editConfig("2");
    await pass(1_000);
    await editConfig("3");
    await pass(1_500);
    expect(rolled).toHaveLength(1);
    await pass(2_000);
    expect(rolled).toHaveLength(2);
  });

  it("continues if a workload loses its Pod after the soak time", async () => {
    const { editConfig, pass, rolled, setPods, halted, breakRollouts } = await steady(12, { maxConcurrent: 2 });
    breakRollouts((name) => ["web-1", "web-10"].includes(name));
    await editConfig("1");
    await pass(20_000);
    expect(rolled).toEqual(["web-0", "web-1", "web-10"]);
    await setPods("web-0", { availableReplicas: 0 });
    await pass(700_000, 20_000);
    expect(halted()).toBe(0);
    await pass(100_000, 5_000);
    expect(rolled).toHaveLength(12);
  });
});

describe("a bad change", () => {
  it("fails one workload, halts the others with Events on them and the object, and a good change then reaches all", async () => {
    const { editConfig, pass, rolled, leader, halted, held, breakRollouts } = await steady(others + 1);
    breakRollouts(() => true);
    await editConfig("bad");
    await pass(700_000, 20_000);
    expect(rolled).toEqual(["web-0"]);
    expect([halted(), held("halted")]).toEqual([1, others]);
    const reported = leader.events.filter(({ reason }) => reason === "RolloutHalted");
    expect(reported.every(({ type }) => type === "Warning")).toBe(true);
    expect(reported.filter(({ regarding }) => regarding.kind === "Deployment")).toHaveLength(others);
    const ofObject = reported.filter(({ regarding }) => regarding.kind === "ConfigMap");
    expect(ofObject).toHaveLength(1);
    expect(ofObject[0]?.regarding).toMatchObject({ name: "web", uid: expect.stringMatching(/./) });
    expect(ofObject[0]?.message).toContain('Deployment "web-0" failed');

    breakRollouts(() => false);
    rolled.length = 0;
    await editConfig("good");
    await pass(400_000, 1_000);
    expect(new Set(rolled).size).toBe(others + 1);
    expect(rolled).toHaveLength(others + 1);
    expect([halted(), held("halted"), held("batch")]).toEqual([0, 0, 0]);
  });

  it("continues if the failed canary is resumed; a halted workload that is resumed rolls alone", async () => {
    const { clock, editConfig, annotate, pass, rolled, breakRollouts, halted } = await steady(6);
    breakRollouts((name) => name === "web-0");
    await editConfig("bad");
    await pass(650_000, 10_000);
    expect([rolled, halted()]).toEqual([["web-0"], 1]);
    const now = () => new Date(clock.wall()).toISOString();
    await annotate("web-4", "resumed", now());
    await pass(5_000);
    expect([rolled, halted()]).toEqual([["web-0", "web-4"], 1]);
    await annotate("web-0", "resumed", now());
    await pass(60_000);
    expect([rolled.length, halted()]).toEqual([6, 0]);
  });

  it("continues if the failed canary is resumed while the clock of Wave is behind", async () => {
    const { clock, editConfig, annotate, pass, rolled, breakRollouts, halted } = await steady(6);
    breakRollouts((name) => name === "web-0");
    await editConfig("bad");
    await pass(650_000, 10_000);
    await annotate("web-0", "resumed", new Date(clock.wall() + 180_000).toISOString());
    await pass(115_000, 5_000);
    expect([rolled, halted()]).toEqual([["web-0"], 1]);
    await pass(65_000, 5_000);
    expect([rolled.length, halted()]).toEqual([6, 0]);
  });

  it("that fails and recovers repeatedly is reported on the object at most once a minute", async () => {
    const { cluster, editConfig, pass, rolled, breakRollouts, leader } = await steady(6);
    breakRollouts((name) => name === "web-0");
    await editConfig("bad");
    await pass(5_000);
    const path = `${resourcePath(deployments, { namespace: "default", name: "web-0" })}/status`;
    const fail = async (reason: string) => {
      const { metadata } = await cluster.get<KubeObject>(deployments, "web-0");
      const conditions = [{ type: "Progressing", status: "False", reason }];
      const status = { observedGeneration: metadata.generation, replicas: 2, updatedReplicas: 1, conditions };
      await cluster.request({ method: "PATCH", path, body: { status }, contentType: "application/merge-patch+json" });
      await pass(1_000);
    };
    for (let times = 0; times < 20; times++) {
      await fail("ProgressDeadlineExceeded");
      await fail("ReplicaSetUpdated");
    }
    const halts = (kind: string) =>
      leader.events.filter(({ reason, regarding }) => reason === "RolloutHalted" && regarding.kind === kind);
    const messages = () => [halts("ConfigMap").length, new Set(halts("Deployment").map(({ group }) => group)).size];
    expect([rolled, messages()]).toEqual([["web-0"], [1, 1]]);
    await pass(30_000);
    await fail("ProgressDeadlineExceeded");
    expect(messages()).toEqual([2, 2]);
  });

  it("halts nothing while the canary makes progress, however long that takes", async () => {
    const { editConfig, pass, rolled, halted, setPods, breakRollouts } = await steady(3);
    breakRollouts(() => true);
    await editConfig("1");
    await pass(3_000);
    for (const ready of [2, 3, 4, 5]) {
      await pass(400_000, 50_000);
      await setPods("web-0", { replicas: ready + 1, updatedReplicas: ready, availableReplicas: ready });
    }
    await pass(500_000, 50_000);
    expect([rolled, halted()]).toEqual([["web-0"], 0]);
    await pass(200_000, 50_000);
    expect([rolled, halted()]).toEqual([["web-0"], 1]);
  });

  it("continues when the failed workload recovers", async () => {
    const { cluster, editConfig, pass, rolled, breakRollouts, halted } = await steady(6);
    breakRollouts((name) => name === "web-0");
    await editConfig("bad");
    await pass(650_000, 10_000);
    expect([rolled, halted()]).toEqual([["web-0"], 1]);
    breakRollouts(() => false);
    // Another client repairs it.
    await cluster.edit(deployments, "web-0", { spec: { template: { metadata: { annotations: { repaired: "1" } } } } });
    await pass(60_000);
    expect([rolled.length, halted()]).toEqual([6, 0]);
  });
});

describe("a halted change", () => {
  it("continues when the failed workload no longer reads the object", async () => {
    const { cluster, editConfig, pass, rolled, breakRollouts, halted } = await steady(6);
    breakRollouts((name) => name === "web-0");
    await editConfig("bad");
    await pass(650_000, 10_000);
    expect([rolled, halted()]).toEqual([["web-0"], 1]);
    await cluster.edit(deployments, "web-0", {
      spec: { template: { spec: { containers: [{ name: "app", image: "app" }] } } },
    });
    await pass(60_000);
    expect([new Set(rolled).size, halted()]).toEqual([6, 0]);
  });
});

describe("a workload that fails with a later change", () => {
  it("does not halt the earlier change with which it was complete for the soak time", async () => {
    const { cluster, annotate, add, editConfig, pass, rolled, breakRollouts, halted } = await steady(3, {
      haltAfterFailures: 1,
    });
    await cluster.create(configMaps, { metadata: { name: "second" }, data: { v: "0" } });
    const readsBoth = [{ configMapRef: { name: "second" } }, { configMapRef: { name: "web" } }];
    await add("both", {}, "default", { containers: [{ name: "main", image: "nginx", envFrom: readsBoth }] });
    await pass(700_000, 100_000);
    await annotate("web-2", "hold", "true");
    await pass(2_000);
    rolled.length = 0;
    await editConfig("1");
    await pass(60_000);
    expect(rolled).toEqual(["both", "web-0", "web-1"]);
    breakRollouts((name) => name === "both");
    await cluster.edit(configMaps, "second", { data: { v: "bad" } });
    await pass(650_000, 10_000);
    await annotate("web-2", "hold", null);
    await pass(60_000);
    expect([rolled.slice(3), halted()]).toEqual([["both", "web-2"], 0]);
  });
});

describe("a bad change that one workload has shown", () => {
  const readsAll = (...names: readonly string[]) => ({
    containers: [{ name: "main", image: "nginx", envFrom: names.map((name) => ({ configMapRef: { name } })) }],
  });

  it("stays halted if a reader of other keys rolls for another object", async () => {
    const { cluster, add, pass, rolled, breakRollouts, halted } = await steady(3);
    await cluster.create(configMaps, { metadata: { name: "second" }, data: { v: "0" } });
    const [container] = readsAll("second").containers;
    const key = { name: "V", valueFrom: { configMapKeyRef: { name: "web", key: "v" } } };
    await add("other", {}, "default", { containers: [{ ...container, env: [key] }] });
    await pass(700_000, 100_000);
    rolled.length = 0;
    breakRollouts((name) => name.startsWith("web"));
    await cluster.edit(configMaps, "web", { data: { more: "bad" } });
    await pass(700_000, 10_000);
    expect([rolled, halted()]).toEqual([["web-0"], 1]);
    await cluster.edit(configMaps, "second", { data: { v: "1" } });
    await pass(60_000);
    expect([rolled, halted()]).toEqual([["web-0", "other"], 1]);
  });

  it("stays halted if a workload begins to read it after a rollout that passed", async () => {
    const { cluster, add, editConfig, annotate, clock, pass, rolled, breakRollouts, halted } = await steady(3);
    await cluster.create(configMaps, { metadata: { name: "second" }, data: { v: "0" } });
    await add("both", {}, "default", readsAll("second"));
    await pass(700_000, 100_000);
    rolled.length = 0;
    breakRollouts((name) => name.startsWith("web"));
    await editConfig("bad");
    await pass(700_000, 10_000);
    await cluster.edit(configMaps, "second", { data: { v: "1" } });
    await pass(60_000);
    breakRollouts(() => true);
    await cluster.edit(deployments, "both", { spec: { template: { spec: readsAll("second", "web") } } });
    await pass(60_000);
    expect([rolled, halted()]).toEqual([["web-0", "both"], 1]);
    await annotate("both", "resumed", new Date(clock.wall()).toISOString());
    await pass(30_000);
    expect([rolled, halted()]).toEqual([["web-0", "both", "both"], 1]);
  });

  it("stays halted for a workload that an annotation makes read it, with a leader that did not see the change", async () => {
    const { cluster, add, editConfig, pass, rolled, breakRollouts, replicas, start } = await steady(1);
    await cluster.create(configMaps, { metadata: { name: "second" }, data: { v: "0" } });
    await add("both", {}, "default", readsAll("second"));
    await pass(700_000, 100_000);
    rolled.length = 0;
    breakRollouts((name) => name === "web-0");
    await editConfig("bad");
    await pass(700_000, 10_000);
    await cluster.edit(configMaps, "second", { data: { v: "1" } });
    await pass(60_000);
    expect(rolled).toEqual(["web-0", "both"]);
    for (const replica of replicas.splice(0)) replica.end();
    await start();
    await pass(20_000);
    await cluster.request({
      ...{ method: "PATCH", path: resourcePath(deployments, { namespace: "default", name: "both" }) },
      ...{ query: { fieldManager: "kubectl-annotate" }, contentType: "application/merge-patch+json" },
      body: { metadata: { annotations: { "wave.pusher.com/extra-configmaps": "web" } } },
    });
    await pass(700_000, 10_000);
    expect(rolled).toEqual(["web-0", "both"]);
    breakRollouts(() => false);
    await editConfig("good");
    await pass(60_000);
    expect(rolled.slice(2).toSorted()).toEqual(["both", "web-0"]);
  });

  it("makes the workload that showed it the canary again, after an undo and `wave resume`", async () => {
    const { cluster, annotate, editConfig, clock, pass, rolled, breakRollouts, halted } = await steady(3, {
      haltAfterFailures: 1,
    });
    await annotate("web-0", "pin-config", "true");
    await pass(2_000);
    await editConfig("1");
    await pass(700_000, 10_000);
    rolled.length = 0;
    const path = resourcePath(deployments, { namespace: "default", name: "web-0" });
    const { spec } = await cluster.request<Deployment>({ method: "GET", path });
    const { annotations } = spec.template.metadata ?? {};
    breakRollouts((name) => name === "web-0");
    await editConfig("bad");
    await pass(60_000);
    breakRollouts(() => false);
    const body = { spec: { template: { metadata: { annotations } } } };
    const query = { fieldManager: "kubectl-rollout" };
    await cluster.request({ method: "PATCH", path, query, body, contentType: "application/merge-patch+json" });
    await pass(60_000, 1_000);
    expect([rolled, halted()]).toEqual([["web-0", "web-0"], 1]);
    breakRollouts(() => true);
    await annotate("web-0", "resumed", new Date(clock.wall()).toISOString());
    await annotate("web-0", "rejected-configmaps", null);
    await pass(20_000);
    expect(rolled.slice(2)).toEqual(["web-0"]);
  });
});

describe("a batch whose leader stops", () => {
  it("continues where it was with the next leader", async () => {
    const { start, replicas, editConfig, pass, rolled, takeMostUnderWay } = await steady(30);
    await editConfig("1");
    await pass(21_000);
    const before = rolled.length;
    expect(before).toBeGreaterThan(5);
    replicas.splice(0).forEach((replica) => {
      replica.end();
    });
    await start();
    await pass(5_000);
    expect(rolled.length).toBeGreaterThan(before);
    await pass(60_000);
    expect(rolled).toHaveLength(30);
    expect(takeMostUnderWay()).toBe(5);
  });

  it("stays halted with the next leader", async () => {
    const { start, replicas, editConfig, pass, rolled, breakRollouts } = await steady(10);
    breakRollouts(() => true);
    await editConfig("bad");
    await pass(650_000, 10_000);
    replicas.splice(0).forEach((replica) => {
      replica.end();
    });
    const next = await start();
    await pass(700_000, 10_000);
    expect(rolled).toEqual(["web-0"]);
    expect(next.metrics.render()).toContain("wave_rollouts_halted 1\n");
  });
});

describe.each([
  ["a canary", "web-0", {}],
  ["a validator", "check", { "wave.pusher.com/validator": "true" }],
])("a change that %s has halted stays halted", (_, first, checks) => {
  const halt = async () => {
    const made = await steady(3);
    const { add, editConfig, pass, rolled, breakRollouts, start, replicas } = made;
    if (first === "check") await add(first, checks);
    await pass(700_000, 100_000);
    rolled.length = 0;
    breakRollouts((name) => name === first);
    await editConfig("bad");
    await pass(650_000, 10_000);
    expect(rolled).toEqual([first]);
    const restart = async () => {
      for (const replica of replicas.splice(0)) replica.end();
      await start();
    };
    return { ...made, restart };
  };

  it.each([
    ["a label of the client that edited it", undefined, { labels: { chart: "2" } }],
    ["a label of another client", "kubectl-label", { labels: { chart: "2" } }],
    ["an annotation that Wave does not read", "kubectl-annotate", { annotations: { note: "x" } }],
    ["a grant", undefined, { annotations: { "wave.pusher.com/shared-with": "other" } }],
    ["a hold", undefined, { annotations: { "wave.pusher.com/hold": "true" } }],
    ["an annotation with a mistake", undefined, { annotations: { "wave.pusher.com/hodl": "true" } }],
  ])("when its object gets %s, also with the next leader", async (__, fieldManager, metadata) => {
    const { cluster, editConfig, pass, rolled, breakRollouts, restart } = await halt();
    const path = resourcePath(configMaps, { namespace: "default", name: "web" });
    const patch = (body: object) =>
      cluster.request({
        ...{ method: "PATCH", path, query: { fieldManager }, body },
        contentType: "application/merge-patch+json",
      });
    await patch({ metadata });
    await pass(20_000);
    expect(rolled).toEqual([first]);
    await restart();
    await pass(60_000);
    expect(rolled).toEqual([first]);
    await patch({ metadata: { labels: null, annotations: null } });
    await pass(60_000);
    expect(rolled).toEqual([first]);
    breakRollouts(() => false);
    await editConfig("good");
    await pass(60_000);
    expect(rolled.length).toBeGreaterThan(3);
  });

  it.each([false, true])("when its object is ignored and no longer ignored (next leader: %s)", async (isNext) => {
    const { cluster, editConfig, pass, rolled, breakRollouts, restart } = await halt();
    const ignore = (value: string | null) =>
      cluster.edit(configMaps, "web", { metadata: { annotations: { "wave.pusher.com/ignore": value } } });
    await ignore("true");
    await pass(20_000);
    if (isNext) await restart();
    await pass(20_000);
    await ignore(null);
    await pass(60_000);
    expect(rolled).toEqual([first]);
    breakRollouts(() => false);
    await editConfig("good");
    await pass(60_000);
    expect(rolled.length).toBeGreaterThan(3);
  });
});

describe("content that a validator has refused", () => {
  const readsV = {
    containers: [
      {
        name: "main",
        image: "nginx",
        env: [{ name: "V", valueFrom: { configMapKeyRef: { name: "web", key: "v" } } }],
      },
    ],
  };
  const edits = { settleMs: 1_000, rolloutTimeoutMs: 60_000 };
  const scene = async () => {
    const made = await steady(3, edits);
    await made.add("check", { "wave.pusher.com/validator": "true" }, "default", readsV);
    await made.pass(700_000, 100_000);
    made.rolled.length = 0;
    made.breakRollouts((name) => name === "check");
    const editOther = (w: string) => made.cluster.edit(configMaps, "web", { data: { w } });
    return { ...made, editOther };
  };

  it.each([
    ["failed", 120_000],
    ["is in progress", 10_000],
  ])("stays refused when a key changes that the validator does not read, while its rollout %s", async (_, ms) => {
    const { editConfig, editOther, pass, rolled, halted, breakRollouts } = await scene();
    await editConfig("bad");
    await pass(ms, 1_000);
    await editOther("1");
    await pass(200_000, 1_000);
    expect([rolled, halted()]).toEqual([["check"], 1]);
    breakRollouts(() => false);
    await editConfig("good");
    await pass(60_000);
    expect([new Set(rolled), halted()]).toEqual([new Set(["check", "web-0", "web-1", "web-2"]), 0]);
  });

  it("stays refused with the next leader, until the validator recovers", async () => {
    const { start, replicas, editConfig, editOther, pass, rolled, setPods } = await scene();
    await editConfig("bad");
    await pass(120_000, 1_000);
    await editOther("1");
    await pass(10_000);
    for (const replica of replicas.splice(0)) replica.end();
    await editOther("2");
    await start();
    await pass(120_000, 1_000);
    expect(rolled).toEqual(["check"]);
    await setPods("check", { replicas: 1, updatedReplicas: 1, availableReplicas: 1 });
    await pass(60_000);
    expect(rolled).toHaveLength(4);
  });

  it("stays refused if another object changes with the key", async () => {
    const { cluster, add, editConfig, editOther, pass, rolled } = await scene();
    await cluster.create(configMaps, { metadata: { name: "second" }, data: { v: "0" } });
    const envFrom = ["web", "second"].map((name) => ({ configMapRef: { name } }));
    await add("both", {}, "default", { containers: [{ name: "main", image: "nginx", envFrom }] });
    await pass(700_000, 100_000);
    rolled.length = 0;
    await editConfig("bad");
    await pass(120_000, 1_000);
    await editOther("1");
    await cluster.edit(configMaps, "second", { data: { v: "1" } });
    await pass(200_000, 1_000);
    expect(rolled).toEqual(["check"]);
  });

  it("reaches the others with a Warning if the validator failed before for its own reason", async () => {
    const { editConfig, editOther, pass, rolled, leader, setPods } = await scene();
    await setPods("check", { availableReplicas: 0 });
    await pass(5_000);
    await editConfig("bad");
    await pass(120_000, 1_000);
    expect(rolled.splice(0)).toContain("web-2");
    await editOther("1");
    await pass(120_000, 1_000);
    expect(new Set(rolled)).toEqual(new Set(["web-0", "web-1", "web-2"]));
    expect(leader.events.filter(({ reason }) => reason === "NotValidated")).toHaveLength(2);
  });
});

it("a leader that did not see a change waits for a held validator that must check it", async () => {
  const { add, annotate, start, replicas, editConfig, pass, rolled } = await steady(3);
  await add("check", { "wave.pusher.com/validator": "true", "wave.pusher.com/mode": "approve" });
  await pass(20_000);
  for (const replica of replicas.splice(0)) replica.end();
  await editConfig("1");
  await start();
  await pass(60_000);
  expect(rolled).toEqual([]);
  await annotate("check", "mode", null);
  await pass(5_000);
  expect(rolled).toEqual(["check"]);
  await pass(60_000);
  expect(rolled.length).toBe(4);
});

describe("a removal of a key that no leader saw, for which the API has no time", () => {
  /** Four readers of an object, and the next leader after a removal. */
  async function removed(checks?: object) {
    const made = await steady(4);
    const { cluster, add, pass, replicas, rolled, start } = made;
    if (checks !== undefined) await add("check", checks);
    await cluster.edit(configMaps, "web", { data: { v: "1", more: "1" } });
    await pass(60_000);
    await pass(700_000, 100_000);
    rolled.length = 0;
    const restart = async () => {
      for (const replica of replicas.splice(0)) replica.end();
      return start();
    };
    for (const replica of replicas.splice(0)) replica.end();
    await cluster.edit(configMaps, "web", { data: { more: null } });
    return { ...made, restart };
  }

  it("begins with a canary, also if the leader changes again", async () => {
    const { pass, restart, rolled } = await removed();
    await restart();
    await pass(5_000);
    expect(rolled).toEqual(["web-0"]);
    await restart();
    await pass(5_000);
    expect(rolled).toEqual(["web-0"]);
    await pass(60_000);
    expect(rolled).toHaveLength(4);
  });

  it("begins with the validator", async () => {
    const { pass, restart, rolled } = await removed({ "wave.pusher.com/validator": "true" });
    await restart();
    await pass(5_000);
    expect(rolled).toEqual(["check"]);
    await pass(60_000);
    expect(rolled).toHaveLength(5);
  });

  it("stays halted by its canary with the next leader", async () => {
    const { breakRollouts, pass, restart, rolled } = await removed();
    breakRollouts(() => true);
    await restart();
    await pass(650_000, 10_000);
    const next = await restart();
    await pass(700_000, 10_000);
    expect(rolled).toEqual(["web-0"]);
    expect(next.metrics.render()).toContain("wave_rollouts_halted 1\n");
  });
});

describe("a canary whose hash another client takes by a forced server-side apply", () => {
  it("stays the canary with the next leader", async () => {
    const { cluster, start, replicas, editConfig, pass, rolled } = await steady(0);
    const labels = { app: "x" };
    const containers = [{ name: "a", image: "a", envFrom: [{ configMapRef: { name: "web" } }] }];
    const deployment = (name: string, annotations: object) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, annotations: { "wave.pusher.com/update-on-config-change": "true" } },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels, annotations }, spec: { containers } },
      },
    });
    const names = ["a", "b", "c"];
    for (const name of names) await cluster.create(deployments, deployment(name, { team: "shop" }));
    await pass(800_000, 20_000);
    expect(rolled).toEqual([]);
    await editConfig("1");
    await pass(3_000);
    expect(rolled.splice(0)).toEqual(["a"]);
    replicas.splice(0).forEach((replica) => {
      replica.end();
    });
    const path = resourcePath(deployments, { namespace: "default", name: "a" });
    const { spec } = await cluster.request<Deployment>({ method: "GET", path });
    for (const hash of ["v2:other", spec.template.metadata?.annotations?.[hashName]])
      await cluster.request({
        method: "PATCH",
        path,
        query: { fieldManager: "gitops", force: true },
        contentType: "application/apply-patch+yaml",
        body: deployment("a", { team: "shop", [hashName]: hash }),
      });
    await pass(1_000);
    rolled.length = 0;
    await start();
    await pass(5_000);
    expect(rolled).toEqual([]);
    await pass(30_000);
    expect(rolled).toEqual(["b", "c"]);
  });
});

describe("several changes, several namespaces, stale caches", () => {
  it("a namespace that reads the same object neither waits for this namespace nor is halted with it", async () => {
    const { cluster, add, editConfig, pass, rolled, breakRollouts } = await steady(4);
    await cluster.request({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: "other" } } });
    await cluster.edit(configMaps, "web", { metadata: { annotations: { "wave.pusher.com/shared-with": "other" } } });
    const reads = { "wave.pusher.com/extra-configmaps": "default/web" };
    const alone = { containers: [{ name: "main", image: "nginx" }] };
    for (const name of ["a", "b", "c"]) await add(name, reads, "other", alone);
    await pass(700_000, 100_000);
    rolled.length = 0;
    breakRollouts((name) => name.startsWith("web-"));
    await editConfig("1");
    await pass(650_000, 1_000);
    expect(rolled.filter((name) => !name.startsWith("other/"))).toEqual(["web-0"]);
    expect(rolled.filter((name) => name.startsWith("other/"))).toEqual(["other/a", "other/b", "other/c"]);
  });

  it("a workload that two changes concern rolls when both changes admit it", async () => {
    const { cluster, add, editConfig, pass, rolled, breakRollouts, halted } = await steady(3);
    await cluster.create(configMaps, { metadata: { name: "second" }, data: { v: "0" } });
    const second = { name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "second" } }] };
    const both = { ...second, envFrom: [...second.envFrom, { configMapRef: { name: "web" } }] };
    for (const name of ["x-0", "x-1"]) await add(name, {}, "default", { containers: [second] });
    await add("a-both", {}, "default", { containers: [both] });
    await pass(700_000, 100_000);
    rolled.length = 0;
    breakRollouts((name) => name === "x-0");
    await cluster.edit(configMaps, "second", { data: { v: "1" } });
    await editConfig("1");
    await pass(2_000);
    // It is the first of both.
    expect(rolled).toEqual(["a-both"]);
    await pass(30_000);
    expect(rolled.toSorted()).toEqual(["a-both", "web-0", "web-1", "web-2", "x-0", "x-1"]);
    expect(halted()).toBe(0);
  });

  it("a workload that only one of two changes admits waits, and no other workload waits for it", async () => {
    const { cluster, annotate, add, editConfig, pass, rolled } = await steady(3);
    await cluster.create(configMaps, { metadata: { name: "second" }, data: { v: "0" } });
    const second = { name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "second" } }] };
    const both = { ...second, envFrom: [...second.envFrom, { configMapRef: { name: "web" } }] };
    for (const name of ["x-0", "x-1"]) await add(name, {}, "default", { containers: [second] });
    await add("a-both", {}, "default", { containers: [both] });
    await annotate("x-0", "priority", "1");
    await pass(700_000, 100_000);
    rolled.length = 0;
    await cluster.edit(configMaps, "second", { data: { v: "1" } });
    await editConfig("1");
    await pass(2_000);
    expect(rolled.toSorted()).toEqual(["web-0", "x-0"]);
    await pass(30_000);
    expect(rolled.toSorted()).toEqual(["a-both", "web-0", "web-1", "web-2", "x-0", "x-1"]);
  });

  it("no other change waits for a workload that is halted for one change", async () => {
    const { cluster, annotate, add, editConfig, pass, rolled, breakRollouts, halted } = await steady(3);
    await cluster.create(configMaps, { metadata: { name: "second" }, data: { v: "0" } });
    const second = { name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "second" } }] };
    const both = { ...second, envFrom: [...second.envFrom, { configMapRef: { name: "web" } }] };
    for (const name of ["x-0", "x-1"]) await add(name, {}, "default", { containers: [second] });
    await add("a-both", {}, "default", { containers: [both] });
    await pass(700_000, 100_000);
    await annotate("x-0", "priority", "1");
    await pass(2_000);
    rolled.length = 0;
    breakRollouts((name) => name === "x-0");
    await cluster.edit(configMaps, "second", { data: { v: "1" } });
    await pass(650_000, 10_000);
    expect([rolled, halted()]).toEqual([["x-0"], 1]);
    await editConfig("1");
    await pass(60_000);
    expect(rolled).toEqual(["x-0", "web-0", "web-1", "web-2"]);
  });

  it("with stale caches of workloads, no workload rolls twice, and no second batch starts before the first is complete", async () => {
    const { cluster, clock, editConfig, rolled, leader } = await steady(10);
    await editConfig("1");
    for (let seconds = 0; seconds < 60; seconds++) {
      await clock.advance(1_000);
      await leader.hear(configMaps);
    }
    expect(rolled).toEqual(["web-0"]);
    await leader.hear(deployments);
    for (let seconds = 0; seconds < 60; seconds++) {
      await clock.advance(1_000);
      await leader.hear(deployments);
    }
    expect(new Set(rolled).size).toBe(10);
    expect(rolled).toHaveLength(10);
    expect(await cluster.list(namespaces)).not.toEqual([]);
  });

  it("with a stale cache of the object, no workload follows the canary of an earlier change to newer content", async () => {
    const { clock, editConfig, pass, rolled, replicas, start, breakRollouts } = await steady(6);
    await editConfig("1");
    await pass(8_000);
    replicas.splice(0).forEach((replica) => {
      replica.end();
    });
    // It does not know the workloads, and so reads the object before each write.
    const next = await start();
    breakRollouts(() => true);
    await editConfig("bad");
    for (let seconds = 0; seconds < 60; seconds++) {
      await clock.advance(1_000);
      await next.hear(deployments);
    }
    expect(rolled).toEqual(["web-0"]);
    await pass(60_000);
    expect(rolled).toEqual(["web-0", "web-0"]);
    await pass(650_000, 10_000);
    expect(rolled).toEqual(["web-0", "web-0"]);
    expect(next.metrics.render()).toContain("wave_rollouts_halted 1\n");
  });

  it("workloads that an earlier change admitted wait for the canary of newer content", async () => {
    const { cluster, editConfig, pass, rolled, breakRollouts } = await steady(6, { settleMs: 0 });
    await editConfig("1");
    await pass(8_000);
    cluster.answers = ({ method }) =>
      method === "PATCH"
        ? new ApiError({ request: "PATCH", status: 503, reason: "ServiceUnavailable", serverMessage: "no" })
        : undefined;
    await pass(20_000);
    cluster.answers = () => undefined;
    breakRollouts(() => true);
    await editConfig("bad");
    await pass(60_000);
    expect(rolled).toEqual(["web-0", "web-0"]);
  });

  it("a workload that is admitted but cannot be written for longer than the rollout timeout causes no repeated sweeps", async () => {
    const { cluster, clock, editConfig, pass } = await steady(6);
    cluster.answers = ({ method }) =>
      method === "PATCH"
        ? new ApiError({ request: "PATCH", status: 503, reason: "ServiceUnavailable", serverMessage: "no" })
        : undefined;
    await editConfig("1");
    await pass(2_000);
    const timers = vi.spyOn(clock, "timer");
    await pass(1_800_000, 60_000);
    // It is tried every 15 s.
    expect(timers.mock.calls.length).toBeLessThan(1_000);
  });

  it("names that no object can have delay no workload", async () => {
    const { cluster, add, pass, rolled } = await steady(0);
    const odd = { name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "a/../b", optional: true } }] };
    for (const name of ["a", "b", "c"]) {
      await add(name, {}, "default", { containers: [odd] });
      await pass(2_000);
    }
    await pass(700_000, 100_000);
    rolled.length = 0;
    const annotations = { [hashName]: `v2:${"0".repeat(64)}` };
    for (const name of ["a", "b", "c"]) {
      await cluster.edit(deployments, name, { spec: { template: { metadata: { annotations } } } });
    }
    await pass(30_000);
    const right = new Set(rolled.slice(3));
    expect([...right].toSorted()).toEqual(["a", "b", "c"]);
  });

  it("a workload whose write is refused delays no other workload", async () => {
    const { cluster, editConfig, pass, rolled } = await steady(6);
    cluster.answers = ({ method, path }) =>
      method === "PATCH" && path.endsWith("/web-0")
        ? new ApiError({ request: "PATCH", status: 403, reason: "Forbidden", serverMessage: "no" })
        : undefined;
    await editConfig("1");
    await pass(60_000);
    expect(rolled).toHaveLength(5);
  });

  it("a workload whose write is refused is tried with growing delays, although it waits for its batch before each try", async () => {
    const { cluster, editConfig, pass, rolled } = await steady(2);
    let tries = 0;
    cluster.answers = ({ method, path }) => {
      if (method !== "PATCH" || !path.endsWith("/web-1")) return undefined;
      tries++;
      return new ApiError({ request: "PATCH", status: 403, reason: "Forbidden", serverMessage: "no" });
    };
    await editConfig("1");
    await pass(60_000, 50);
    expect(rolled).toEqual(["web-0"]);
    expect(tries).toBeGreaterThan(5);
    expect(tries).toBeLessThan(12);
    cluster.answers = () => undefined;
    await pass(300_000);
    expect(rolled).toEqual(["web-0", "web-1"]);
  });

  it("a workload that is deleted while it is the canary delays no other workload", async () => {
    const { cluster, editConfig, pass, rolled, breakRollouts } = await steady(6);
    breakRollouts((name) => name === "web-0");
    await editConfig("1");
    await pass(20_000);
    expect(rolled).toEqual(["web-0"]);
    await cluster.remove(deployments, "web-0");
    await pass(1_000);
    expect(rolled).toEqual(["web-0", "web-1"]);
    await pass(60_000);
    expect(rolled).toHaveLength(6);
  });
});

describe("a workload that is broken for a reason of its own", () => {
  const broken = (name: string) => name === "web-0" || name === "web-1";

  async function withBroken() {
    const made = await steady(6);
    made.breakRollouts(broken);
    await made.setPods("web-0", { availableReplicas: 0 });
    await made.setPods("web-1", { availableReplicas: 0 });
    await made.pass(5_000);
    return made;
  }

  it("is not the canary, and halts nothing: each edit reaches all others", async () => {
    const { editConfig, pass, rolled, halted, leader } = await withBroken();
    for (const value of ["1", "2"]) {
      await editConfig(value);
      await pass(20_000);
      expect(rolled.slice(0, 5).toSorted()).toEqual(["web-0", "web-2", "web-3", "web-4", "web-5"]);
      expect(rolled[0]).toBe("web-2");
      await pass(1_300_000, 50_000);
      expect(rolled.splice(0).toSorted()).toEqual(["web-0", "web-1", "web-2", "web-3", "web-4", "web-5"]);
      expect(halted()).toBe(0);
    }
    expect(leader.events.filter(({ reason }) => reason === "RolloutHalted")).toEqual([]);
  });

  it("halts nothing after a restart of Wave either", async () => {
    const { annotate, editConfig, pass, rolled, replicas, start, leader } = await withBroken();
    await annotate("web-5", "hold", "true");
    await pass(1_000);
    await editConfig("1");
    await pass(1_300_000, 50_000);
    expect(rolled).not.toContain("web-5");
    leader.end();
    replicas.length = 0;
    const next = await start();
    await pass(700_000, 50_000);
    await annotate("web-5", "hold", null);
    await pass(60_000);
    expect(rolled).toContain("web-5");
    expect(next.events.filter(({ reason }) => reason === "RolloutHalted")).toEqual([]);
  });

  it("because of a bad edit does not halt a good one that got a label, with the next leader", async () => {
    const { cluster, annotate, editConfig, pass, rolled, breakRollouts, replicas, start } = await steady(2);
    // Kubernetes does not replace its Pods: it stays broken.
    breakRollouts((name) => name === "web-0");
    await annotate("web-1", "hold", "true");
    await editConfig("bad");
    await pass(700_000, 10_000);
    await editConfig("good");
    await pass(1_300_000, 10_000);
    expect(rolled).toEqual(["web-0", "web-0"]);
    await cluster.edit(configMaps, "web", { metadata: { labels: { chart: "2" } } });
    await pass(10_000);
    for (const replica of replicas.splice(0)) replica.end();
    await start();
    await pass(20_000);
    await annotate("web-1", "hold", null);
    await pass(1_300_000, 10_000);
    expect(rolled).toEqual(["web-0", "web-0", "web-1"]);
  });

  it("that a bad edit broke is not the canary of the next edit", async () => {
    const { editConfig, pass, rolled, halted, breakRollouts } = await steady(4);
    breakRollouts(() => true);
    await editConfig("bad");
    await pass(700_000, 50_000);
    expect([rolled.splice(0), halted()]).toEqual([["web-0"], 1]);
    // Kubernetes does not replace its Pods: it stays broken.
    breakRollouts((name) => name === "web-0");
    await editConfig("good");
    await pass(10_000);
    expect(rolled).toEqual(["web-1"]);
    await pass(700_000, 50_000);
    expect([rolled.toSorted(), halted()]).toEqual([["web-0", "web-1", "web-2", "web-3"], 0]);
  });
});

describe("the end of a rollout", () => {
  /** Returns the ends that a leader reported, each with its notification's identity. */
  const endsOf = ({ events }: { readonly events: readonly ObjectEvent[] }) =>
    events.flatMap(({ reason, regarding: { kind, name }, message, repeats }) =>
      /^Rollout(Complete|Failed|Resolved)$/.test(reason) && repeats !== "reported"
        ? [`${reason} ${kind} ${name}: ${message}`]
        : [],
    );
  const why = 'ConfigMap "web" changed (key "v")';

  it("is reported once: complete, failed, resolved, with object, key and duration", async () => {
    const { leader, editConfig, pass, breakRollouts } = await steady(1);
    await editConfig("1");
    await pass(60_000);
    expect(endsOf(leader)).toEqual([expect.stringMatching(/^RolloutComplete Deployment web-0: /)]);
    expect(leader.events.at(-1)?.message).toMatch(/^Rollout complete after \d+s: /);
    expect(leader.events.at(-1)?.message).toContain(`: ${why}.`);
    leader.events.length = 0;
    breakRollouts(() => true);
    await editConfig("bad");
    await pass(7_200_000, 60_000);
    expect(endsOf(leader)).toEqual([
      expect.stringMatching(/^RolloutFailed Deployment web-0: Rollout failed after 1\dm/),
    ]);
    expect(endsOf(leader)[0]).toContain(`It started because ${why}. Run: wave explain deployment/web-0 -n default.`);
    leader.events.length = 0;
    breakRollouts(() => false);
    await editConfig("good");
    await pass(120_000);
    expect(endsOf(leader)).toEqual([expect.stringContaining(`: Failed rollout resolved: complete after `)]);
    expect(endsOf(leader)[0]).toContain(why);
  });

  it("is reported with the same identity by the next leader, and not at all for a rollout of another client", async () => {
    const { leader, start, replicas, cluster, editConfig, pass, setPods, breakRollouts } = await steady(1);
    breakRollouts(() => true);
    await editConfig("bad");
    await pass(10_000);
    const { generation } = (await cluster.get<KubeObject>(deployments, "web-0")).metadata;
    const conditions = [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }];
    await setPods("web-0", { observedGeneration: generation, replicas: 2, updatedReplicas: 1, conditions });
    await pass(10_000);
    const failed = (events: readonly ObjectEvent[]) => events.filter(({ reason }) => reason === "RolloutFailed");
    replicas.splice(0).forEach((replica) => {
      replica.end();
    });
    const next = await start();
    await pass(700_000, 10_000);
    const [first] = failed(leader.events);
    expect(first).toMatchObject({ repeats: "perhaps", id: expect.any(String) });
    expect(failed(next.events).map(({ id, repeats }) => ({ id, repeats }))).toEqual([
      { id: first?.id, repeats: "perhaps" },
    ]);
    next.events.length = 0;
    const template = { metadata: { annotations: { restarted: "1" } } };
    await cluster.edit(deployments, "web-0", { spec: { template } });
    await pass(700_000, 10_000);
    expect(failed(next.events).filter(({ repeats }) => repeats !== "reported")).toEqual([]);
  });

  it("is reported for each of two halts within minutes, with the end of the halt in between", async () => {
    const { leader, editConfig, pass, breakRollouts } = await steady(3, { rolloutTimeoutMs: 60_000 });
    const halts = () =>
      leader.events.filter(({ reason }) => reason === "RolloutHalted" || reason === "RolloutResolved");
    breakRollouts(() => true);
    await editConfig("bad");
    await pass(150_000, 1_000);
    breakRollouts(() => false);
    await editConfig("good");
    await pass(150_000, 1_000);
    breakRollouts(() => true);
    await editConfig("bad again");
    await pass(150_000, 1_000);
    const sent = halts().filter(({ repeats }) => repeats !== "reported");
    const ofObject = sent.filter(({ regarding }) => regarding.kind === "ConfigMap");
    expect(ofObject.map(({ reason }) => reason)).toEqual(["RolloutHalted", "RolloutResolved", "RolloutHalted"]);
    expect(ofObject.map(({ repeats }) => repeats)).toEqual([undefined, undefined, undefined]);
    const ofWorkloads = sent.filter(
      ({ regarding, reason }) => regarding.kind === "Deployment" && reason === "RolloutHalted",
    );
    expect(new Set(ofWorkloads.map(({ group }) => group)).size).toBe(2);
    expect(ofWorkloads.length).toBeGreaterThan(2);
  });
});
