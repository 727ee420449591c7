import { expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { workload } from "../../../test/support/fake-cluster.ts";
import { leadingCluster, plainPolicy } from "../../../test/support/leading-cluster.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import { parseCause } from "../../domain/pacing/cause.ts";
import { type PacingFlags, type Policy, toNamespacePolicy } from "../../domain/policy/policy.ts";
import { noPolicy, type PolicyAnnotations } from "../../domain/policy/policy-rows.ts";

const flags: PacingFlags = { ...unpaced, settleMs: 1_000 };
const template = "/apis/apps/v1/namespaces/default/deployments/web";
const hashPath = "wave.pusher.com/config-hash";

/** A controller that leads, and a Deployment `web` that has its first hash since long ago. */
async function scene(annotations: Readonly<Record<string, string>> = {}) {
  let ofNamespace: PolicyAnnotations = noPolicy;
  const policy: Policy = {
    ...plainPolicy,
    pacing: flags,
    namespacePolicyOf: (name) => ({
      ...toNamespacePolicy({}),
      annotations: name === "default" ? ofNamespace : noPolicy,
    }),
  };
  const cluster = await leadingCluster(startSandbox, policy, async (cluster) => {
    await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
    await cluster.create("Deployment", workload("web"));
  });
  const reported = () => cluster.events.filter(({ reason }) => reason !== "RolloutComplete");
  const reasons = () => reported().map(({ reason }) => reason);
  await eventually(() => expect(reasons()).toEqual(["ConfigHashAdded"]));
  cluster.events.length = 0;
  const edit = async (a: string) => {
    await cluster.edit("ConfigMap", "web", { data: { a } });
    await cluster.show("ConfigMap", "web");
  };
  const annotate = async (values: Readonly<Record<string, string | null>>) => {
    const names = Object.entries(values).map(([name, value]) => [`wave.pusher.com/${name}`, value]);
    await cluster.edit("Deployment", "web", { metadata: { annotations: Object.fromEntries(names) } });
    await cluster.show("Deployment", "web");
  };
  /** Advances the clock in steps, and shows the caches the workload after each step. */
  const pass = async (ms: number, stepMs = ms) => {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await cluster.clock.advance(stepMs);
      for (let turn = 0; turn < 3; turn++) await cluster.get("Deployment", "web");
      await cluster.show("Deployment", "web");
    }
  };
  await annotate(annotations);
  await cluster.completeRollout("web");
  await pass(700_000);
  const rolls = () => reasons().filter((reason) => reason === "ConfigChanged" || reason === "ConfigHashAdded").length;
  const held = (reason: string) => cluster.metrics.render().includes(`wave_held_workloads{reason="${reason}"} 1\n`);
  const annotateNamespace = (annotations: PolicyAnnotations) => {
    ofNamespace = annotations;
    cluster.controller.onNamespaceChange("default");
  };
  return { cluster, reported, reasons, edit, annotate, annotateNamespace, pass, rolls, held };
}

it("a hold by a person is reported once immediately, counted, and followed by one rollout after its release", async () => {
  const { cluster, reasons, reported, edit, annotate, pass, rolls, held } = await scene({ hold: "true" });
  for (const a of ["2", "3", "4"]) {
    await edit(a);
    await pass(60_000);
  }
  expect(reasons()).toEqual(["RolloutHeld"]);
  expect(reported()[0]?.message).toMatch(
    /^Rollout due: ConfigMap "web" changed \(key "a"\), last edited by "[^"]+"\. Rollout held by annotation /,
  );
  expect(held("hold")).toBe(true);
  await annotate({ hold: null });
  await eventually(() => expect(rolls()).toBe(1));
  const { recordedHash, cause } = toWorkload(kinds.Deployment, Object(await cluster.get("Deployment", "web")));
  expect(parseCause(recordedHash, cause)).toMatchObject({
    why: 'ConfigMap "web" changed (key "a")',
    edits: [{ kind: "ConfigMap", namespace: "default", name: "web", keys: ["a"], by: expect.any(String) }],
    heldBy: "hold",
  });
  await pass(700_000);
  expect(rolls()).toBe(1);
  expect(held("hold")).toBe(false);
  await edit("5");
  await pass(60_000, 500);
  await eventually(() => expect(rolls()).toBe(2));
  const next = toWorkload(kinds.Deployment, Object(await cluster.get("Deployment", "web")));
  expect(parseCause(next.recordedHash, next.cause)).toMatchObject({ heldBy: undefined });
});

it("a workload held by its Namespace rolls when the Namespace is released", async () => {
  const { edit, annotateNamespace, pass, rolls, held } = await scene();
  annotateNamespace({ hold: "true" });
  await edit("2");
  await pass(60_000);
  expect([rolls(), held("hold")]).toEqual([0, true]);
  annotateNamespace(noPolicy);
  await eventually(() => expect(rolls()).toBe(1));
});

it("a lasting hold is reported again before its Event expires", async () => {
  const { reasons, edit, pass } = await scene({ hold: "true" });
  await edit("2");
  await pass(50 * 60_000, 60_000);
  expect(reasons()).toEqual(["RolloutHeld", "RolloutHeld"]);
});

it("a hold that ends soon by itself is not reported, and another hold is reported when it has lasted", async () => {
  const { reasons, edit, pass, held, rolls } = await scene({ "min-interval": "1h" });
  await edit("2");
  await pass(30_000, 500);
  expect([held("interval"), reasons()]).toEqual([true, []]);
  await pass(2_000, 500);
  await eventually(() => expect(reasons()).toEqual(["RolloutHeld"]));
  expect([held("interval"), rolls()]).toEqual([true, 0]);
});

it("a workload that is held for another reason when its window closes gets an Event about the window", async () => {
  const { cluster, edit, annotate, pass, held, reasons } = await scene({ "min-interval": "2h" });
  const hours = (inMs: number) => new Date(cluster.clock.wall() + inMs).toISOString().slice(11, 16);
  await annotate({ window: `Sun-Sat ${hours(0)}-${hours(10 * 60_000)}` });
  await edit("2");
  await pass(60_000, 500);
  expect([held("interval"), reasons()]).toEqual([true, ["RolloutHeld"]]);
  await pass(10 * 60_000, 10_000);
  expect([held("window"), reasons()]).toEqual([true, ["RolloutHeld", "RolloutHeld"]]);
  expect(cluster.events.at(-1)?.message).toContain("set by annotation wave.pusher.com/window");
});

it("a client that removes the hash causes at most ten writes, and an Event that names its field manager", async () => {
  const { cluster, edit, pass, rolls } = await scene();
  const strip = async () => {
    const web = await cluster.get("Deployment", "web");
    const carries = JSON.stringify(Object(web).spec).includes(hashPath);
    if (!carries) return;
    await cluster.client.request({
      method: "PATCH",
      path: template,
      query: { fieldManager: "stripper" },
      contentType: "application/merge-patch+json",
      // A client that only removes fields owns none, so managedFields do not name it.
      body: {
        metadata: { annotations: { stripped: `${cluster.clock.wall()}` } },
        spec: { template: { metadata: { annotations: { [hashPath]: null } } } },
      },
    });
    await cluster.show("Deployment", "web");
  };
  await edit("2");
  for (let minutes = 0; minutes < 180; minutes++) {
    await pass(60_000, 30_000);
    await strip();
  }
  expect(rolls()).toBe(10);
  const warnings = cluster.events.filter(({ type }) => type === "Warning");
  expect(warnings.at(-1)?.message).toContain('field manager "stripper"');
  expect(warnings.at(-1)?.message).toContain("10 times");
  await edit("3");
  await pass(700_000, 60_000);
  expect(rolls()).toBe(11);
});

it("a workload with flapping configuration rolls with growing intervals, and ends with the last state", async () => {
  const { edit, pass, rolls, reasons, cluster } = await scene();
  for (let edits = 0; edits < 200; edits++) {
    await edit(`edit ${edits}`);
    await pass(15_000);
  }
  // 50 minutes: after 10, 20, 40 … 1,280 seconds.
  expect(rolls()).toBeLessThan(11);
  expect(rolls()).toBeGreaterThan(6);
  // One for each rollout from the seventh on, however many edits there are.
  expect(reasons().filter((reason) => reason === "ConfigurationFlaps").length).toBeLessThan(6);
  await edit("last");
  await pass(3_000_000, 50_000);
  const before = rolls();
  const hash = JSON.stringify(Object(await cluster.get("Deployment", "web")).spec.template);
  await edit("other");
  await edit("last");
  await pass(700_000, 50_000);
  expect(rolls()).toBe(before);
  expect(JSON.stringify(Object(await cluster.get("Deployment", "web")).spec.template)).toBe(hash);
});
