import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { reads, rolledOut, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { kindNames, workload } from "../end-to-end/objects.ts";
import { getWorkload, waveEvents } from "../end-to-end/state.ts";
import { startPageKubelet } from "./page-kubelet.ts";
import { pointsPods } from "./pointed.ts";
import { annotate, applyPointingPolicy, configMapsOfPods, pagesRead } from "./scenarios.ts";

describeOnControlPlane("a copy that is deleted while its content is not live", (cluster) => {
  it.concurrent.for([
    ["with webhooks", true],
    ["without webhooks", false],
  ] as const)("is reported with a Warning, whose advice brings Pods that can start, %s", async ([_, webhooks]) => {
    const ns = webhooks ? "pinned-lost-webhook" : "pinned-lost";
    const docs = await readFile("docs/pinning.md", "utf8");
    const scene = await startScene(cluster, ns, { webhooks, args: ["--pin-config"] });
    const kubelet = await startPageKubelet(cluster, ns);
    try {
      await applyPointingPolicy(cluster, ns);
      await pointsPods(cluster, ns);
      await Promise.all(kindNames.map((kind) => lose(kind)));
    } finally {
      await kubelet.stop();
      await scene.wave.stop();
    }

    async function lose(kind: (typeof kindNames)[number]): Promise<void> {
      const name = `web-${kind.toLowerCase()}`;
      const pins = async () => {
        const { spec } = await getWorkload(cluster, ns, kind, name);
        return spec.template.metadata.annotations?.["wave.pusher.com/pinned"];
      };
      await scene.namespace.configMap(name, { page: "first" });
      const podSpec = { ...reads(name), ...kubelet.placement };
      await scene.namespace.create(
        workload(name, podSpec, { kind, annotations: { "wave.pusher.com/pin-config": "true" } }),
      );
      await until("pins", pins);
      await rolledOut(scene, kind, name);
      await annotate(scene, kind, name, { "wave.pusher.com/hold": "true" });
      await scene.namespace.edit("ConfigMap", name, { page: "second" });
      const [copy = ""] = [...(await configMapsOfPods(scene, name)).values()].flat();
      await scene.namespace.remove("ConfigMap", copy);
      const { type, message } = await until("Warning PinnedCopyLost", async () =>
        (await waveEvents(cluster, ns, name)).find(({ reason }) => reason === "PinnedCopyLost"),
      );
      expect([type, message]).toEqual(["Warning", expect.stringContaining(`"${copy}" was deleted`)]);
      const select = ["-l", `app=${name}`, "--force", "--grace-period=0"];
      await cluster.kubectl(["-n", ns, "delete", "pods", ...select]);
      const [, unpinned = ""] = /kubectl patch .* -p '(.*)'/.exec(docs) ?? [];
      await cluster.kubectl(["-n", ns, "patch", `${kind}/${name}`, "--type=merge", "-p", unpinned]);
      await cluster.kubectl(["-n", ns, "rollout", "restart", `${kind}/${name}`]);
      await rolledOut(scene, kind, name);
      expect(await pagesRead(scene, name)).toEqual(["second"]);
      await annotate(scene, kind, name, { "wave.pusher.com/hold": null });
      await until("pins whose copies exist", async () => {
        const stored = await pins();
        return stored?.includes(copy) === false ? stored : undefined;
      });
      await rolledOut(scene, kind, name);
      expect(await pagesRead(scene, name)).toEqual(["second"]);
    }
  });
});
