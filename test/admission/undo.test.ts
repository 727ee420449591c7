import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { optIn, workload } from "../end-to-end/objects.ts";
import { getWorkload, newHash, waveEvents } from "../end-to-end/state.ts";
import { tools } from "../gitops/drift.ts";
import { helm, reads, rolledOut, type Scene, startScene } from "./admitted.ts";

const prefix = "wave.pusher.com/";

/** The actions of one namespace whose Wave runs with or without webhooks. */
function actions(cluster: Cluster, scene: Scene) {
  const ns = scene.namespace.name;
  const kubectl = (args: readonly string[], object?: unknown) =>
    cluster.kubectl(["-n", ns, ...args], object === undefined ? "" : JSON.stringify(object));
  return {
    kubectl,
    annotate: (name: string, ...changes: readonly string[]) =>
      kubectl(["annotate", "--overwrite", "deployment", name, ...changes.map((each) => prefix + each)]),
    /** In one request: otherwise Kubernetes copies the annotation to the old ReplicaSet before there is a new one. */
    optInWithNewTemplate: (name: string) => {
      const template = { spec: { containers: [{ name: "app", image: "nginx:2" }] } };
      const patch = { metadata: { annotations: optIn }, spec: { template } };
      return kubectl(["patch", "deployment", name, "-p", JSON.stringify(patch)]);
    },
    setImage: async (name: string, image: string) => {
      await kubectl(["set", "image", `deployment/${name}`, `app=${image}`]);
      await rolledOut(scene, "Deployment", name);
    },
    annotationsOf: async (name: string) => {
      const { annotations = {} } = (await getWorkload(cluster, ns, "Deployment", name)).metadata;
      const own = Object.entries(annotations).filter(([each]) => each.startsWith(prefix));
      return Object.fromEntries(own.map(([each, value]) => [each.slice(prefix.length), value]));
    },
    lostOf: async (name: string) =>
      (await waveEvents(cluster, ns, name)).filter(({ reason }) => reason === "AnnotationsLost"),
    /** Creates a workload with its first hash. */
    create: async (name: string, annotations: Record<string, string> = {}) => {
      await scene.namespace.configMap(name, { a: "1" });
      await kubectl(["create", "-f", "-"], workload(name, reads(name), { annotations }));
      await newHash(cluster, ns, "Deployment", name);
      await rolledOut(scene, "Deployment", name);
    },
  };
}

describeOnControlPlane("a rollback with webhooks", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, "undo-webhooks", { webhooks: true });
  });
  afterAll(() => scene?.wave.stop());
  describeOtherTools(cluster, () => scene);

  it("by kubectl keeps what people annotated since the earlier revision, and names it", async () => {
    const { create, setImage, annotate, kubectl, annotationsOf } = actions(cluster, scene);
    await create("web");
    await annotate("web", "priority=7");
    await setImage("web", "nginx:2");
    await annotate("web", "hold=true", "mode=approve", "priority-");
    const before = await annotationsOf("web");
    const output = await kubectl(["rollout", "undo", "deployment/web"]);
    expect(output).toMatch(/Warning: .*Kept Wave annotations as before the rollback: "hold", "mode" and "priority"/);
    expect(await annotationsOf("web")).toEqual(before);
    expect(before).toMatchObject({ hold: "true", mode: "approve" });
  });

  it("by kubectl neither brings a released hold back nor opts out", async () => {
    const { create, setImage, annotate, optInWithNewTemplate, kubectl, annotationsOf } = actions(cluster, scene);
    await create("late", { [`${prefix}hold`]: "true" });
    await setImage("late", "nginx:2");
    await annotate("late", "hold-");
    await kubectl(["rollout", "undo", "deployment/late"]);
    expect(await annotationsOf("late")).not.toHaveProperty("hold");
    const { metadata, ...rest } = workload("before", reads("late"));
    await kubectl(["create", "-f", "-"], { ...rest, metadata: { name: metadata.name } });
    await rolledOut(scene, "Deployment", "before");
    await optInWithNewTemplate("before");
    await newHash(cluster, scene.namespace.name, "Deployment", "before");
    await kubectl(["rollout", "undo", "deployment/before", "--to-revision=1"]);
    expect(await annotationsOf("before")).toMatchObject({ "update-on-config-change": "true" });
  });

  it("by kubectl is distinguished from a removal in a request of its own, and from a manifest that is applied", async () => {
    const { create, annotate, kubectl, annotationsOf } = actions(cluster, scene);
    await create("own");
    await annotate("own", "hold=true");
    await annotate("own", "hold-");
    expect(await annotationsOf("own")).not.toHaveProperty("hold");
    const manifest = (hold: Record<string, string>, image: string) => {
      const pod = reads("own");
      const containers = pod.containers.map((each) => ({ ...each, image }));
      return workload("applied", { ...pod, containers }, { annotations: hold });
    };
    await kubectl(["apply", "-f", "-"], manifest({}, "nginx"));
    await kubectl(["apply", "-f", "-"], manifest({ [`${prefix}hold`]: "true" }, "nginx:2"));
    expect(await annotationsOf("applied")).toMatchObject({ hold: "true" });
    await kubectl(["apply", "-f", "-"], manifest({}, "nginx"));
    expect(await annotationsOf("applied")).not.toHaveProperty("hold");
  });
});

describeOnControlPlane("a rollback without webhooks", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, "undo-controller", { webhooks: false });
  });
  afterAll(() => scene?.wave.stop());
  describeOtherTools(cluster, () => scene);

  it("by kubectl is reported with what it changed, until somebody sets the annotations again", async () => {
    const { create, setImage, annotate, kubectl, annotationsOf, lostOf } = actions(cluster, scene);
    await create("web");
    await setImage("web", "nginx:2");
    await annotate("web", "hold=true");
    await scene.caughtUp();
    await kubectl(["rollout", "undo", "deployment/web"]);
    const lost = await until("the Warning", async () => (await lostOf("web"))[0]);
    expect(lost).toMatchObject({ type: "Warning", message: expect.stringMatching(/kubectl rollout undo: .*"hold"/) });
    expect(await annotationsOf("web")).not.toHaveProperty("hold");
    await annotate("web", "hold=true");
    await scene.caughtUp();
    expect(await lostOf("web")).toHaveLength(1);
  });

  it("by kubectl to a revision before the opt-in is reported, although Wave no longer rolls the workload", async () => {
    const { optInWithNewTemplate, kubectl, annotationsOf, lostOf } = actions(cluster, scene);
    const { metadata, ...rest } = workload("before", reads("before"));
    await scene.namespace.configMap("before", { a: "1" });
    await kubectl(["create", "-f", "-"], { ...rest, metadata: { name: metadata.name } });
    await rolledOut(scene, "Deployment", "before");
    await optInWithNewTemplate("before");
    await newHash(cluster, scene.namespace.name, "Deployment", "before");
    await scene.caughtUp();
    await kubectl(["rollout", "undo", "deployment/before", "--to-revision=1"]);
    const lost = await until("the Warning", async () => (await lostOf("before"))[0]);
    expect(lost).toMatchObject({ message: expect.stringContaining('"update-on-config-change"') });
    expect(await annotationsOf("before")).not.toHaveProperty("update-on-config-change");
  });
});

/** A rollback by other tools writes only what the manifest has, with and without webhooks. */
function describeOtherTools(cluster: Cluster, sceneOf: () => Scene): void {
  describe("of other tools keeps annotations that people wrote, and is not reported:", () => {
    it.for(tools.map((tool, index) => ({ ...tool, index })))("$tool", async ({ apply, index }) => {
      const { kubectl, annotate, annotationsOf, lostOf } = actions(cluster, sceneOf());
      const name = `tool-${index}`;
      await sceneOf().namespace.configMap(name, { a: "1" });
      const manifest = (image: string) => {
        const pod = reads(name);
        const containers = pod.containers.map((each) => ({ ...each, image }));
        return workload(name, { ...pod, containers });
      };
      await kubectl([...apply, "-f", "-"], manifest("nginx"));
      await newHash(cluster, sceneOf().namespace.name, "Deployment", name);
      await kubectl([...apply, "-f", "-"], manifest("nginx:2"));
      await annotate(name, "hold=true");
      await kubectl([...apply, "-f", "-"], manifest("nginx"));
      await sceneOf().caughtUp();
      expect(await annotationsOf(name)).toMatchObject({ hold: "true", "update-on-config-change": "true" });
      expect(await lostOf(name)).toEqual([]);
    });

    it("helm rollback", async () => {
      const { annotate, annotationsOf, lostOf } = actions(cluster, sceneOf());
      const ns = sceneOf().namespace.name;
      const chart = await mkdtemp(join(tmpdir(), "wave-chart-"));
      await mkdir(join(chart, "templates"));
      await writeFile(join(chart, "Chart.yaml"), JSON.stringify({ apiVersion: "v2", name: "app", version: "1.0.0" }));
      await writeFile(join(chart, "values.yaml"), JSON.stringify({ image: "nginx" }));
      const web = JSON.stringify(workload("helm", reads("helm"), { annotations: optIn }));
      await writeFile(join(chart, "templates", "web.yaml"), web.replace('"nginx"', '"{{ .Values.image }}"'));
      await sceneOf().namespace.configMap("helm", { a: "1" });
      await helm(cluster, ["-n", ns, "install", "helm", chart]);
      await newHash(cluster, ns, "Deployment", "helm");
      await helm(cluster, ["-n", ns, "upgrade", "helm", chart, "--set", "image=nginx:2"]);
      await annotate("helm", "hold=true");
      await helm(cluster, ["-n", ns, "rollback", "helm", "1"]);
      await sceneOf().caughtUp();
      expect(await annotationsOf("helm")).toMatchObject({ hold: "true" });
      expect(await lostOf("helm")).toEqual([]);
      await rm(chart, { recursive: true });
    });
  });
}
