import { expect, it, onTestFinished } from "vitest";
import { rolledOut, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, kindNames, workload, workloadPath } from "../end-to-end/objects.ts";
import { newHash } from "../end-to-end/state.ts";
import { closedWindow } from "../support/pacing/closed-window.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, configMapsOfPods, imagesOf } from "./scenarios.ts";

describeOnControlPlane("a pinned workload without webhooks", (cluster) => {
  it.for(kindNames)(
    "reads all keys at once if one apply of a %s changes the image and reads more keys, although its window is closed",
    async (kind) => {
      const ns = `pinned-outgrown-${kind.toLowerCase()}`;
      const scene = await startScene(cluster, ns, { webhooks: false, args: ["--pin-config"] });
      onTestFinished(async () => {
        await scene.wave.stop("SIGKILL");
      });
      await applyPointingPolicy(cluster, ns);
      await pointsPods(cluster, ns);
      await scene.namespace.configMap("page", { a: "1", b: "1", unread: "1" });
      const manifest = (image: string, keys: readonly string[]) => {
        const env = keys.map((key) => ({
          name: key,
          valueFrom: { configMapKeyRef: { name: "page", key, optional: true } },
        }));
        const annotations = { "wave.pusher.com/pin-config": "true" };
        return JSON.stringify(workload("web", { containers: [{ ...container, image, env }] }, { kind, annotations }));
      };
      const apply = (image: string, ...keys: readonly string[]) =>
        cluster.kubectl(["-n", ns, "apply", "-f", "-"], manifest(image, keys));
      /** Returns the keys of the copies that all Pods read; undefined if a Pod reads live configuration. */
      const keysOfPods = async () => {
        const names = [...(await configMapsOfPods(scene, "web")).values()].flat();
        if (names.length === 0 || names.includes("page")) return undefined;
        const copies = await Promise.all(
          [...new Set(names)].map((name) =>
            cluster.api<{ data: object; metadata: object }>("GET", `/api/v1/namespaces/${ns}/configmaps/${name}`),
          ),
        );
        return copies.map(({ data }) => Object.keys(data).toSorted().join());
      };
      await apply("app:1", "a");
      const first = await newHash(cluster, ns, kind, "web");
      await rolledOut(scene, kind, "web");
      expect(await keysOfPods()).toEqual(["a"]);

      const window = { "wave.pusher.com/window": closedWindow() };
      await scene.namespace.merge(workloadPath(ns, kind, "web"), { metadata: { annotations: window } });
      await apply("app:2", "a", "b");
      await newHash(cluster, ns, kind, "web", first);
      await rolledOut(scene, kind, "web");
      await until("the keys of the new Pods", async () => (await keysOfPods())?.join(" ") === "a,b" || undefined);
      expect(await imagesOf(scene, "web")).toEqual(["app:2"]);
    },
  );
});
