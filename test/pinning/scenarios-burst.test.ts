import { afterAll, beforeAll, expect, it } from "vitest";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { workload } from "../end-to-end/objects.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, configMapsOfPods, pagesRead, readsPages } from "./scenarios.ts";

const [ns, shared] = ["pinned-burst", "shared"];
const names = Array.from({ length: 10 }, (_, index) => `app-${index}`);
const edits = 40;

describeOnControlPlane("pinned configuration that many workloads read", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true, args: ["--pin-config"] });
    await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  it("is read from copies by each Pod while it is edited, and is the last edit in the end", async () => {
    await scene.namespace.configMap(shared, { page: "0" });
    const annotations = { "wave.pusher.com/pin-config": "true" };
    for (const name of names) await scene.namespace.create(workload(name, readsPages([shared]), { annotations }));
    for (const name of names) await rolledOut(scene, "Deployment", name);
    const live = new Set<string>();
    const observe = async () => {
      for (const name of names) {
        for (const [pod, configMaps] of await configMapsOfPods(scene, name)) {
          if (configMaps.includes(shared)) live.add(pod);
        }
      }
    };
    for (let edit = 1; edit <= edits; edit++) {
      await scene.namespace.edit("ConfigMap", shared, { page: String(edit) });
      if (edit % 5 === 0) await observe();
    }
    for (const name of names) {
      await until(`the last edit in ${name}`, async () => {
        await observe();
        return (await pagesRead(scene, name)).join() === String(edits) ? true : undefined;
      });
    }
    expect([...live]).toEqual([]);
  });
});
