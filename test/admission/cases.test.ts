import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { workload, workloadKinds } from "../end-to-end/objects.ts";
import { getWorkload, newHash, recordedHash, revisionsToBe, waveEvents } from "../end-to-end/state.ts";
import { lifeOf, podsToBe, reads, rolledOut, type Scene, startScene, writtenByController } from "./admitted.ts";

/** StatefulSets have two rows, because their default policy does not replace a Pod that never became ready. */
const rows = [
  ...workloadKinds.map(({ kind }) => ({ kind, title: kind, spec: {} })),
  {
    kind: "StatefulSet" as const,
    title: "StatefulSet with ordered Pods",
    spec: { podManagementPolicy: "OrderedReady" },
  },
];

describeOnControlPlane("admission with webhooks", (cluster) => {
  const ns = "admission";
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true });
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });
  const schedulingHoldOf = async (kind: (typeof rows)[number]["kind"], name: string) => {
    const { metadata, spec } = await getWorkload(cluster, ns, kind, name);
    return {
      scheduler: spec.template.spec.schedulerName,
      previous: metadata.annotations?.["wave.pusher.com/scheduling-disabled"],
    };
  };
  const eventsOf = async (name: string) => (await waveEvents(cluster, ns, name)).map(({ reason }) => reason);

  describe.for(rows)("of a $title", ({ kind, title, spec }) => {
    const id = title.toLowerCase().replaceAll(" ", "-");

    it("has its hash from the first Pod on if its configuration exists, and the controller writes nothing", async () => {
      const name = `exists-${id}`;
      await scene.namespace.configMap(name, { a: "1" });
      await scene.namespace.create(workload(name, reads(name), { kind, spec }));
      expect(await recordedHash(cluster, ns, kind, name)).toMatch(/^v2:[0-9a-f]{64}$/);
      await rolledOut(scene, kind, name);
      await scene.caughtUp();
      expect(await lifeOf(scene, kind, name)).toEqual({ revisions: 1, started: 1 });
      expect(await writtenByController(scene, kind, name)).toBe(false);
    });

    it("rolls at once when an optional object is created later", async () => {
      const name = `optional-${id}`;
      await scene.namespace.create(workload(name, reads(name, true), { kind, spec }));
      const absent = await recordedHash(cluster, ns, kind, name);
      expect(absent).toMatch(/^v2:/);
      await rolledOut(scene, kind, name);
      await scene.namespace.configMap(name, { a: "1" });
      await newHash(cluster, ns, kind, name, absent);
      await revisionsToBe(cluster, ns, kind, name, 2);
      await rolledOut(scene, kind, name);
      expect(await lifeOf(scene, kind, name)).toEqual({ revisions: 2, started: 2 });
    });

    it("waits for required objects, and then starts once", async () => {
      const name = `missing-${id}`;
      await scene.namespace.create(workload(name, reads(name), { kind, spec }));
      expect(await schedulingHoldOf(kind, name)).toEqual({
        scheduler: "wave.pusher.com/invalid",
        previous: "default-scheduler",
      });
      await podsToBe(scene, name, "Pending");
      await scene.caughtUp();
      expect(await lifeOf(scene, kind, name)).toMatchObject({ started: 0 });
      await until("an Event on the Pod that names the object", async () => {
        const selector = "fieldSelector=involvedObject.kind=Pod,reason=SchedulingDisabled";
        const events = await cluster.list(`/api/v1/namespaces/${ns}/events?${selector}`);
        return events.some(({ message }) => String(message).includes(`Waiting for ConfigMap "${name}"`)) || undefined;
      });

      await scene.namespace.configMap(name, { a: "1" });
      await newHash(cluster, ns, kind, name);
      expect(await schedulingHoldOf(kind, name)).toEqual({ scheduler: "default-scheduler", previous: undefined });
      await podsToBe(scene, name, "Running");
      await scene.caughtUp();
      expect(await lifeOf(scene, kind, name)).toEqual({ revisions: 2, started: 1 });
      await until("Events of the scheduling hold", async () => {
        const reasons = await eventsOf(name);
        return ["SchedulingDisabled", "SchedulingEnabled"].every((reason) => reasons.includes(reason)) || undefined;
      });
    });

    it("keeps its scheduling hold while an object is missing, also when the workload is replaced", async () => {
      const name = `held-${id}`;
      const object = workload(name, reads(name), { kind, spec });
      await scene.namespace.create(object);
      // kubectl replaces the object that it read. Kubernetes may write the status in between, which is a conflict.
      await until("kubectl to replace it", () =>
        scene.cluster.kubectl(["-n", ns, "replace", "-f", "-"], JSON.stringify(object)),
      );
      expect(await schedulingHoldOf(kind, name)).toEqual({
        scheduler: "wave.pusher.com/invalid",
        previous: "default-scheduler",
      });
      await scene.caughtUp();
      expect(await lifeOf(scene, kind, name)).toEqual({ revisions: 1, started: 0 });
    });
  });

  it("keeps the name of another scheduler while the Pods wait, and restores it", async () => {
    const name = "other-scheduler";
    await scene.namespace.create(workload(name, { ...reads(name), schedulerName: "mine" }));
    expect(await schedulingHoldOf("Deployment", name)).toEqual({
      scheduler: "wave.pusher.com/invalid",
      previous: "mine",
    });
    await scene.namespace.configMap(name, {});
    await newHash(cluster, ns, "Deployment", name);
    expect(await schedulingHoldOf("Deployment", name)).toEqual({ scheduler: "mine", previous: undefined });
  });

  it("holds only the new Pods when an update of the template refers to a missing object", async () => {
    const name = "brings-in";
    await scene.namespace.configMap(name, { a: "1" });
    await scene.namespace.create(workload(name, reads(name)));
    await rolledOut(scene, "Deployment", name);
    await scene.namespace.merge(`/apis/apps/v1/namespaces/${ns}/deployments/${name}`, {
      spec: { template: { spec: reads("brings-in-late") } },
    });
    expect(await schedulingHoldOf("Deployment", name)).toMatchObject({ scheduler: "wave.pusher.com/invalid" });
    await scene.caughtUp();
    expect(await lifeOf(scene, "Deployment", name)).toMatchObject({ started: 1 });
    await scene.namespace.configMap("brings-in-late", { a: "1" });
    await podsToBe(scene, name, "Running");
    await rolledOut(scene, "Deployment", name);
    expect(await lifeOf(scene, "Deployment", name)).toEqual({ revisions: 3, started: 2 });
  });

  it("does not change a workload that has not opted in", async () => {
    const { metadata, ...rest } = workload("out", reads("nothing-of-this-name"));
    await scene.namespace.create({ ...rest, metadata: { name: metadata.name } });
    const { spec } = await getWorkload(cluster, ns, "Deployment", "out");
    expect(spec.template.metadata.annotations).toBeUndefined();
    expect(spec.template.spec.schedulerName).toBe("default-scheduler");
  });
});

/** How long an object must be absent until Wave knows that Pods have not read it, with the margin for clocks. */
const absentMs = 10_000;

describeOnControlPlane("the same without webhooks", (cluster) => {
  let scene: Scene;
  let startedAt: number;
  beforeAll(async () => {
    scene = await startScene(cluster, "no-admission", { webhooks: false });
    startedAt = performance.now();
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  describe.for(workloadKinds)("a $kind", ({ kind }) => {
    const id = kind.toLowerCase();

    it("starts its Pods once if its configuration is created earlier, and rolls if an optional object is created later", async () => {
      // Wave knows for this time that the optional object was absent. So it need not restart Pods that may have read it.
      await until("the margin of the clocks", async () => performance.now() > startedAt + absentMs || undefined);
      const names = [`exists-${id}`, `optional-${id}`];
      await scene.namespace.configMap(`exists-${id}`, { a: "1" });
      for (const name of names)
        await scene.namespace.create(workload(name, reads(name, name.startsWith("optional")), { kind }));
      for (const name of names) await rolledOut(scene, kind, name);
      await scene.caughtUp();
      await scene.namespace.configMap(`optional-${id}`, { a: "1" });
      for (const name of names) await newHash(cluster, "no-admission", kind, name);
      await revisionsToBe(cluster, "no-admission", kind, `exists-${id}`, 1);
      await revisionsToBe(cluster, "no-admission", kind, `optional-${id}`, 2);
      await rolledOut(scene, kind, `optional-${id}`);
      expect(await lifeOf(scene, kind, `optional-${id}`)).toEqual({ revisions: 2, started: 2 });
    });
  });
});
