import { expect, it } from "vitest";
import { reads, rolledOut, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { kindNames, workload } from "../end-to-end/objects.ts";
import { getWorkload, newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { startPageKubelet } from "./page-kubelet.ts";
import { pointsPods } from "./pointed.ts";
import { annotate, applyPointingPolicy, configMapsOfPods, pagesRead } from "./scenarios.ts";

describeOnControlPlane("a Pod that cannot start because its copy was deleted", (cluster) => {
  it.concurrent.for([
    ["with webhooks", true],
    ["without webhooks", false],
  ] as const)("brings one rollout to the earlier copy while the change is held, %s", async ([_, webhooks]) => {
    const ns = webhooks ? "pinned-stuck-webhook" : "pinned-stuck";
    const scene = await startScene(cluster, ns, { webhooks, args: ["--pin-config"] });
    const kubelet = await startPageKubelet(cluster, ns);
    try {
      await applyPointingPolicy(cluster, ns);
      await pointsPods(cluster, ns);
      await Promise.all(kindNames.map((kind) => stick(kind)));
    } finally {
      await kubelet.stop();
      await scene.wave.stop();
    }

    async function stick(kind: (typeof kindNames)[number]): Promise<void> {
      const name = `web-${kind.toLowerCase()}`;
      const events = () => waveEvents(cluster, ns, name);
      const pins = async () => {
        const { spec } = await getWorkload(cluster, ns, kind, name);
        return spec.template.metadata.annotations?.["wave.pusher.com/pinned"];
      };
      await scene.namespace.configMap(name, { page: "first" });
      const podSpec = { ...reads(name), ...kubelet.placement };
      await scene.namespace.create(
        workload(name, podSpec, { kind, annotations: { "wave.pusher.com/pin-config": "true" } }),
      );
      const first = await until("pins", pins);
      const firstHash = await recordedHash(cluster, ns, kind, name);
      await rolledOut(scene, kind, name);
      await scene.namespace.edit("ConfigMap", name, { page: "second" });
      const hash = await newHash(cluster, ns, kind, name, firstHash);
      await rolledOut(scene, kind, name);
      await annotate(scene, kind, name, { "wave.pusher.com/hold": "true" });
      await scene.namespace.edit("ConfigMap", name, { page: "third" });
      const [copy = ""] = [...(await configMapsOfPods(scene, name)).values()].flat();
      await scene.namespace.remove("ConfigMap", copy);
      await until("Warning PinnedCopyLost", async () =>
        (await events()).find(({ reason }) => reason === "PinnedCopyLost"),
      );
      // The running Pods do not need the copy.
      expect(await recordedHash(cluster, ns, kind, name)).toBe(hash);
      const select = ["-l", `app=${name}`, "--force", "--grace-period=0"];
      await cluster.kubectl(["-n", ns, "delete", "pods", ...select]);
      expect(await newHash(cluster, ns, kind, name, hash)).toBe(firstHash);
      expect(await pins()).toBe(first);
      await rolledOut(scene, kind, name);
      expect(await pagesRead(scene, name)).toEqual(["first"]);
      const rolled = (await events()).filter(({ message }) => message.startsWith("Rollout started: a pinned copy"));
      expect(rolled.map(({ type, reason }) => [type, reason])).toEqual([["Warning", "PinnedCopyLost"]]);
      const { metadata } = await getWorkload(cluster, ns, kind, name);
      expect(metadata.annotations).not.toHaveProperty(["wave.pusher.com/rejected-configmaps"]);
      await annotate(scene, kind, name, { "wave.pusher.com/hold": null });
      await newHash(cluster, ns, kind, name, firstHash);
      await rolledOut(scene, kind, name);
      expect(await pagesRead(scene, name)).toEqual(["third"]);
    }
  });
});
