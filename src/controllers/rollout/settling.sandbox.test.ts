import { describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { workload } from "../../../test/support/fake-cluster.ts";
import { leadingCluster, plainPolicy } from "../../../test/support/leading-cluster.ts";
import type { PacingFlags, Policy } from "../../domain/policy/policy.ts";

const settles: PacingFlags = { ...unpaced, settleMs: 1_000 };
/** Long enough that no rollout is consecutive or still in progress. */
const quietMs = 700_000;

/** A controller that leads, and a Deployment `web` that has its first hash since long ago. */
async function scene(onPlan = () => {}) {
  const policy: Policy = {
    ...plainPolicy,
    pacing: settles,
    // Every plan takes the keys as they are then.
    get hashKeys() {
      onPlan();
      return undefined;
    },
  };
  const cluster = await leadingCluster(startSandbox, policy, async (cluster) => {
    await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
    await cluster.create("Deployment", workload("web"));
  });
  const reasons = () => cluster.events.map(({ reason }) => reason).filter((reason) => reason !== "RolloutComplete");
  await eventually(() => expect(reasons()).toEqual(["ConfigHashAdded"]));
  await cluster.completeRollout("web");
  const edit = async (a: string) => {
    await cluster.edit("ConfigMap", "web", { data: { a } });
    await cluster.show("ConfigMap", "web");
  };
  /** Advances the clock, and waits until requests that are due then are sent. */
  const pass = async (ms: number) => {
    await cluster.clock.advance(ms);
    for (let turn = 0; turn < 3; turn++) await cluster.get("Deployment", "web");
  };
  await pass(quietMs);
  const held = (reason: string) => cluster.metrics.render().includes(`wave_held_workloads{reason="${reason}"} 1`);
  return { cluster, reasons, edit, pass, held };
}

describe("a recorded configuration", () => {
  it("delays no rollout: an edit after it only settles", async () => {
    const policy: Policy = { ...plainPolicy, pacing: settles, firstSight: "record" };
    const cluster = await leadingCluster(startSandbox, policy, async (cluster) => {
      await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
      await cluster.create("Deployment", workload("web"));
    });
    const reasons = () => cluster.events.map(({ reason }) => reason).filter((reason) => reason !== "RolloutComplete");
    // Both were created in one second, so nothing shows which content the Pods read.
    await eventually(() => expect(reasons()).toEqual(["ConfigRecorded"]));
    await cluster.show("Deployment", "web");
    await eventually(() => expect(reasons()).toEqual(["ConfigRecorded", "ConfigUnproven"]));
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await cluster.clock.advance(1_000);
    await eventually(() => expect(reasons()).toEqual(["ConfigRecorded", "ConfigUnproven", "ConfigChanged"]));
  });
});

describe("an edit of configuration", () => {
  it("settles for a second and is then rolled, with every other change until then", async () => {
    const { reasons, edit, pass, held } = await scene();
    await edit("2");
    await pass(900);
    await edit("3");
    await pass(999);
    expect(reasons()).toEqual(["ConfigHashAdded"]);
    expect(held("settling")).toBe(true);
    await pass(1);
    await eventually(() => expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]));
    await pass(10_000);
    expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]);
  });

  it("that continues without a pause is rolled ten seconds after its start", async () => {
    const { reasons, edit, pass } = await scene();
    for (let edits = 0; edits < 20; edits++) {
      await edit(`edit ${edits}`);
      await pass(500);
    }
    await eventually(() => expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]));
  });

  it("costs one plan while it settles, even if it is repeated", async () => {
    let plans = 0;
    const { edit, pass, reasons } = await scene(() => plans++);
    plans = 0;
    for (let edits = 0; edits < 90; edits++) {
      await edit(`edit ${edits}`);
      await pass(10);
    }
    expect(plans).toBeLessThan(5);
    await pass(1_000);
    await eventually(() => expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]));
  });

  it("that is reverted rolls nothing, and the next edit settles from its own start", async () => {
    const { cluster, reasons, edit, pass, held } = await scene();
    await edit("2");
    await pass(500);
    await edit("1");
    await pass(quietMs);
    expect(reasons()).toEqual(["ConfigHashAdded"]);
    expect(held("settling")).toBe(false);
    await edit("2");
    await pass(999);
    expect(reasons()).toEqual(["ConfigHashAdded"]);
    await pass(1);
    await eventually(() => expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]));
    await cluster.show("Deployment", "web");
  });

  it("does not settle if Pods may wait for it: the workload rolls at once", async () => {
    const { cluster, reasons } = await scene();
    await cluster.remove("ConfigMap", "web");
    await cluster.show("ConfigMap", "web");
    await eventually(() => expect(reasons()).toEqual(["ConfigHashAdded", "ConfigMissing"]));
    await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await eventually(() => expect(reasons()).toEqual(["ConfigHashAdded", "ConfigMissing", "ConfigChanged"]));
  });

  it("settles to the end even if its workload is scaled meanwhile", async () => {
    const { cluster, reasons, edit, pass } = await scene();
    await edit("2");
    await pass(500);
    await cluster.edit("Deployment", "web", { spec: { replicas: 2 } });
    await cluster.show("Deployment", "web");
    await pass(499);
    expect(reasons()).toEqual(["ConfigHashAdded"]);
    // The Pods of a rollout that is not complete were read meanwhile. After a plan, the next one follows 10 ms later or more.
    await pass(10);
    await eventually(() => expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]));
  });

  it("needs no separate rollout if the pod template changes within that second and the webhook adds the hash", async () => {
    const { cluster, reasons, edit, pass } = await scene();
    // The template that admission will make of the request: the controller is let to write its hash once, and undo it.
    await edit("2");
    await pass(1_000);
    await eventually(() => expect(reasons()).toHaveLength(2));
    await cluster.show("Deployment", "web");
    await pass(quietMs);
    const second = await cluster.get("Deployment", "web");
    await edit("1");
    await pass(1_000);
    await eventually(() => expect(reasons()).toHaveLength(3));
    await cluster.show("Deployment", "web");
    await pass(quietMs);

    await edit("2");
    const { spec } = Object(second);
    await cluster.edit("Deployment", "web", { spec: { template: spec.template } });
    await cluster.show("Deployment", "web");
    await pass(quietMs);
    expect(reasons()).toHaveLength(3);
  });
});
