import { expect, it } from "vitest";
import { rolledOut } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { makeNamespace, optIn, workload } from "../end-to-end/objects.ts";
import { getWorkload, waveEvents } from "../end-to-end/state.ts";
import { copyNames } from "./copies-in-use.ts";
import { startPageKubelet } from "./page-kubelet.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, pagesOfReplacedPods, pagesRead, podUids, readsPages } from "./scenarios.ts";
import { startWithShortAges } from "./short-ages.ts";

const pin = { "wave.pusher.com/pin-config": "true" };

describeOnControlPlane("a pinned reader of a ConfigMap that a validator reads", (cluster) => {
  it("keeps its pod template, its Pods and its copy after a bad edit, also in a new Pod, and rolls to the good edit after it", async () => {
    const ns = "pinned-validated";
    const namespace = await makeNamespace(cluster, ns);
    const scene = { cluster, namespace };
    const wave = await startWithShortAges(cluster, ns, { webhooks: false, pacing: ["--max-concurrent-rollouts=50"] });
    const kubelet = await startPageKubelet(cluster, ns);
    const template = async (name: string) => (await getWorkload(cluster, ns, "Deployment", name)).spec.template;
    const copyOf = async (name: string) => {
      const pins = (await template(name)).metadata.annotations?.["wave.pusher.com/pinned"];
      return pins?.split("=")[1];
    };
    /** Creates a Deployment that reads a ConfigMap, and waits until it is pinned and complete. */
    const create = async (name: string, read: string, annotations: Record<string, string>) => {
      const spec = { revisionHistoryLimit: 0 };
      const podSpec = { ...readsPages([read]), ...kubelet.placement };
      await namespace.create(workload(name, podSpec, { annotations: { ...optIn, ...pin, ...annotations }, spec }));
      const copy = await until(`the copy of ${name}`, () => copyOf(name));
      await rolledOut(scene, "Deployment", name);
      return copy;
    };
    const halted = () =>
      until("the halt", async () =>
        (await waveEvents(cluster, ns, "web")).find(({ reason }) => reason === "RolloutHalted"),
      );
    try {
      await applyPointingPolicy(cluster, ns);
      await pointsPods(cluster, ns);
      await namespace.configMap("page", { page: "old" });
      await namespace.configMap("other", { page: "old" });
      await create("page-check", "page", { "wave.pusher.com/validator": "true" });
      const copy = await create("web", "page", {});
      const otherCopy = await create("other", "other", {});
      const [before, pods] = [await template("web"), await podUids(scene, "web")];

      await namespace.edit("ConfigMap", "page", { page: "bad" });
      expect((await halted()).message).toContain('validator Deployment "page-check" failed');
      // The collector of this Wave deletes a copy that nothing has used since the halt.
      await namespace.edit("ConfigMap", "other", { page: "new" });
      await until("the deletion of an unused copy", async () =>
        (await copyNames(cluster, ns)).includes(otherCopy) ? undefined : true,
      );
      expect(await template("web")).toEqual(before);
      expect(await podUids(scene, "web")).toEqual(pods);
      expect(await copyNames(cluster, ns)).toContain(copy);
      expect(await pagesRead(scene, "web")).toEqual(["old"]);

      // As if the node of its Pods had died.
      expect(await pagesOfReplacedPods(scene, "web")).toEqual(["old"]);
      await rolledOut(scene, "Deployment", "web");
      expect(await template("web")).toEqual(before);

      await namespace.edit("ConfigMap", "page", { page: "good" });
      await until("the good edit in all Pods", async () =>
        (await pagesRead(scene, "web")).join() === "good" ? true : undefined,
      );
      await rolledOut(scene, "Deployment", "web");
      expect(await copyOf("web")).not.toBe(copy);
    } finally {
      await kubelet.stop();
      await wave.stop();
    }
  });
});
