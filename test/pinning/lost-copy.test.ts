import { expect, it } from "vitest";
import { rolledOut, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { waveEvents } from "../end-to-end/state.ts";
import { pointsPods } from "./pointed.ts";
import { annotate, applyPointingPolicy, configMapsOfPods, createPinned, pagesRead } from "./scenarios.ts";

describeOnControlPlane("a copy that is deleted while its content is not live", (cluster) => {
  it("is reported with a Warning, and a restart of the workload brings Pods that can start", async () => {
    const [ns, name] = ["pinned-lost", "web"];
    const scene = await startScene(cluster, ns, { webhooks: true, args: ["--pin-config"] });
    try {
      await applyPointingPolicy(cluster, ns);
      await pointsPods(cluster, ns);
      await createPinned(scene, "Deployment", name);
      await annotate(scene, "Deployment", name, { "wave.pusher.com/hold": "true" });
      await scene.namespace.edit("ConfigMap", name, { page: "new" });
      const [copy = ""] = [...(await configMapsOfPods(scene, name)).values()].flat();
      await scene.namespace.remove("ConfigMap", copy);
      const { type, message } = await until("Warning PinnedCopyLost", async () =>
        (await waveEvents(cluster, ns, name)).find(({ reason }) => reason === "PinnedCopyLost"),
      );
      expect([type, message]).toEqual(["Warning", expect.stringContaining(`"${copy}" was deleted`)]);
      await cluster.kubectl(["-n", ns, "rollout", "restart", `deployment/${name}`]);
      await rolledOut(scene, "Deployment", name);
      await until("Pods that read live configuration", async () =>
        (await pagesRead(scene, name)).join() === "new" ? true : undefined,
      );
    } finally {
      await scene.wave.stop();
    }
  });
});
