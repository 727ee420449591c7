import { execFile } from "node:child_process";
import { expect, it } from "vitest";
import { rolledOut } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until, wave as waveCommand } from "../control-plane/wave-process.ts";
import { makeNamespace, workload, workloadPath } from "../end-to-end/objects.ts";
import { newHash, waveEvents } from "../end-to-end/state.ts";
import { pointsPods } from "./pointed.ts";
import { configMapsOfPods, pagesRead, readsPages } from "./scenarios.ts";
import { startWithShortAges } from "./short-ages.ts";
import { createStallingProxy } from "./stalling-proxy.ts";

describeOnControlPlane("a pinned Pod that was created while the webhook did not answer", (cluster) => {
  it("is in the list at once, and is replaced alone when the workload may roll", async () => {
    const ns = "pinned-late";
    const namespace = await makeNamespace(cluster, ns);
    const proxy = createStallingProxy();
    const wave = await startWithShortAges(cluster, ns, { webhooks: true, proxyOf: proxy.listen });
    const scene = { cluster, namespace } as Parameters<typeof configMapsOfPods>[0];
    const live = async () => {
      const pods = await configMapsOfPods(scene, "web");
      return [...pods].filter(([, names]) => names.includes("web")).map(([name]) => name);
    };
    const listed = () =>
      new Promise<string>((resolve) => {
        const flags = ["--kubeconfig", cluster.kubeconfig, "-n", ns, "--settle=0", "--pin-config"];
        execFile(waveCommand, ["list", ...flags], (_error, out) => resolve(out));
      });
    /** Deletes a Pod while the webhook does not answer. Returns the name of the Pod that reads live configuration instead. */
    const createUnpinned = async () => {
      const [victim = ""] = (await configMapsOfPods(scene, "web")).keys();
      proxy.stall();
      await cluster.kubectl(["-n", ns, "delete", "pod", victim, "--force", "--grace-period=0"]);
      const [name = ""] = await until("a Pod that reads live configuration", async () => {
        const found = await live();
        return found.length === 0 ? undefined : found;
      });
      return name;
    };
    const hold = (value: string | null) =>
      namespace.merge(workloadPath(ns, "Deployment", "web"), {
        metadata: { annotations: { "wave.pusher.com/hold": value } },
      });
    try {
      await pointsPods(cluster, ns);
      await namespace.configMap("web", { page: "good" });
      const annotations = { "wave.pusher.com/pin-config": "true" };
      await namespace.create(workload("web", readsPages(["web"]), { spec: { replicas: 4 }, annotations }));
      const first = await newHash(cluster, ns, "Deployment", "web");
      await rolledOut(scene, "Deployment", "web");
      expect(await live()).toEqual([]);

      await hold("true");
      const late = await createUnpinned();
      expect(await listed()).toMatch(/^deployment\/web +current +4\/4 .* unpinned /m);
      proxy.resume();
      const text = "1 of 4 Pods may read live configuration instead of pinned copies";
      await until("the report", async () =>
        (await waveEvents(cluster, ns, "web")).find(({ message }) => message.includes(text)),
      );
      expect(await live()).toEqual([late]);
      await hold(null);
      await until("the Pods to be replaced", async () => {
        const pods = await configMapsOfPods(scene, "web");
        return pods.size === 4 && !pods.has(late) ? true : undefined;
      });
      await rolledOut(scene, "Deployment", "web");
      expect(await live()).toEqual([]);

      await hold("true");
      await namespace.edit("ConfigMap", "web", { page: "held" });
      await createUnpinned();
      expect(await pagesRead(scene, "web")).toEqual(["good", "held"]);
      expect(await listed()).toMatch(/^deployment\/web +held .* hold,unpinned /m);
      proxy.resume();
      await hold(null);
      await newHash(cluster, ns, "Deployment", "web", first);
      await rolledOut(scene, "Deployment", "web");
      expect(await live()).toEqual([]);
    } finally {
      proxy.close();
      await wave.stop();
    }
  });
});
