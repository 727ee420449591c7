import { describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { workload } from "../../../test/support/fake-cluster.ts";
import { leadingCluster, plainPolicy } from "../../../test/support/leading-cluster.ts";

const prefix = "wave.pusher.com/";
const both = ["web", "other"].map((name) => ({ configMapRef: { name } }));

/** A controller that leads, and a workload `web` of two ConfigMaps that has its first hash. */
async function scene(kind: "Deployment" | "StatefulSet") {
  const cluster = await leadingCluster(startSandbox, plainPolicy, async (cluster) => {
    for (const name of ["web", "other"])
      await cluster.create("ConfigMap", { metadata: { name }, data: { [name]: "1" } });
    await cluster.create(kind, workload("web", { containers: [{ name: "main", image: "nginx", envFrom: both }] }));
  });
  const rolls = () => cluster.events.filter(({ reason }) => reason === "ConfigChanged").length;
  const see = async () => {
    for (let turn = 0; turn < 5; turn++) await cluster.get(kind, "web");
    await cluster.show(kind, "web");
  };
  const edit = async (name: string, value: string) => {
    await cluster.edit("ConfigMap", name, { data: { [name]: value } });
    await cluster.show("ConfigMap", name);
    await see();
  };
  const annotate = async (on: "ConfigMap" | typeof kind, name: string, annotations: Record<string, string | null>) => {
    const prefixed = Object.entries(annotations).map(([key, value]) => [prefix + key, value]);
    await cluster.edit(on, name, { metadata: { annotations: Object.fromEntries(prefixed) } });
    await cluster.show(on, name);
    await see();
  };
  await eventually(() => expect(cluster.events).toMatchObject([{ reason: "ConfigHashAdded" }]));
  await see();
  return { cluster, rolls, edit, annotate, see };
}

describe.each(["Deployment", "StatefulSet"] as const)("a %s", (kind) => {
  it("is not rolled for an object that is not tracked, nor because the object is no longer tracked or tracked again", async () => {
    const { rolls, edit, annotate } = await scene(kind);
    await annotate("ConfigMap", "web", { ignore: "true" });
    await annotate(kind, "web", { "exclude-configmaps": "other" });
    await annotate("ConfigMap", "web", { ignore: null });
    await annotate(kind, "web", { "exclude-configmaps": null });
    expect(rolls()).toBe(0);
    await annotate("ConfigMap", "web", { ignore: "true" });
    await edit("web", "2");
    await edit("web", "3");
    expect(rolls()).toBe(0);
    await edit("other", "2");
    await eventually(() => expect(rolls()).toBe(1));
    await annotate("ConfigMap", "web", { ignore: null });
    await eventually(() => expect(rolls()).toBe(1));
    await annotate("ConfigMap", "web", { ignore: "true" });
    await edit("web", "4");
    await annotate("ConfigMap", "web", { ignore: null });
    await eventually(() => expect(rolls()).toBe(2));
  });

  it("is held by annotations until they are removed, and then rolled once", async () => {
    const { cluster, rolls, edit, annotate } = await scene(kind);
    await annotate(kind, "web", { hold: "true" });
    await edit("web", "2");
    await edit("other", "2");
    expect([rolls(), cluster.metrics.render()]).toEqual([
      0,
      expect.stringContaining('wave_held_workloads{reason="hold"} 1'),
    ]);
    await annotate(kind, "web", { hold: null });
    await eventually(() => expect(rolls()).toBe(1));
    await annotate(kind, "web", { mode: "approve" });
    await edit("web", "3");
    await eventually(() => expect(rolls()).toBe(1));
    const [, digits] = /approved: "([0-9a-f]{8})"/.exec(cluster.events.at(-1)?.message ?? "") ?? [];
    await annotate(kind, "web", { approved: "00000000" });
    await eventually(() => expect(rolls()).toBe(1));
    await annotate(kind, "web", { approved: digits ?? "" });
    await eventually(() => expect(rolls()).toBe(2));
    await annotate(kind, "web", { mode: null, window: "at night" });
    await edit("web", "4");
    await eventually(() => expect(rolls()).toBe(2));
    expect(cluster.events.at(-1)).toMatchObject({ type: "Warning", message: expect.stringContaining('"at night"') });
    await annotate(kind, "web", { window: null });
    await eventually(() => expect(rolls()).toBe(3));
  });

  it("is rolled when its window opens, with the last state", async () => {
    const { cluster, rolls, edit, see, annotate } = await scene(kind);
    const opens = Math.ceil(cluster.clock.wall() / 60_000 + 1) * 60_000;
    const time = (ms: number) => new Date(ms).toISOString().slice(11, 16);
    await annotate(kind, "web", { window: `Mon-Sun ${time(opens)}-${time(opens + 3_600_000)}` });
    await edit("web", "2");
    await edit("web", "3");
    expect(rolls()).toBe(0);
    await cluster.clock.advance(opens - cluster.clock.wall() - 1);
    await see();
    expect(rolls()).toBe(0);
    // The note of the difference is a change of the workload, and a hold is checked again after at least 10 ms.
    await cluster.clock.advance(10);
    await see();
    await eventually(() => expect(rolls()).toBe(1));
  });
});

it("an annotation without effect on a ConfigMap is reported once, on that ConfigMap", async () => {
  const { cluster, annotate } = await scene("Deployment");
  const reported = () => cluster.events.filter(({ reason }) => reason === "InvalidAnnotation");
  await annotate("ConfigMap", "web", { "update-on-config-change": "true" });
  await eventually(() =>
    expect(reported()).toMatchObject([
      {
        regarding: { kind: "ConfigMap", name: "web" },
        message: `Annotation "${prefix}update-on-config-change" has no effect on a ConfigMap. Set it on the workload.`,
      },
    ]),
  );
  await annotate("ConfigMap", "web", { other: null });
  await annotate("ConfigMap", "web", { "update-on-config-change": null });
  expect(reported()).toHaveLength(1);
});
