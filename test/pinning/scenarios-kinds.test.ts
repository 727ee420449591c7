import { afterAll, beforeAll, expect, it } from "vitest";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { kindNames, type WorkloadKind, workload } from "../end-to-end/objects.ts";
import { newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { type PageKubelet, startPageKubelet } from "./page-kubelet.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, imagesOf, pagesOfReplacedPods, pagesRead, podUids, readsPages } from "./scenarios.ts";

describeOnControlPlane("pinned workloads of each kind that read one ConfigMap", (cluster) => {
  describeBatches(cluster, "batched-with-webhook", kindNames, { policy: true, webhooks: true });
  describeBatches(cluster, "batched-by-webhook", ["Deployment"], { policy: false, webhooks: true });
  describeBatches(cluster, "batched-by-policy", ["StatefulSet"], { policy: true, webhooks: false });
});

function describeBatches(
  cluster: Cluster,
  ns: string,
  kinds: readonly WorkloadKind[],
  { policy, webhooks }: { readonly policy: boolean; readonly webhooks: boolean },
): void {
  let scene: Scene;
  let kubelet: PageKubelet;
  beforeAll(async () => {
    const args = [
      "--pin-config",
      // Without a settle time there is no interval after the first hash: the workloads are due together, and their priorities decide.
      "--settle=0",
      "--soak=10s",
      "--max-concurrent-rollouts=1",
      "--rollout-timeout=12s",
    ];
    scene = await startScene(cluster, ns, { webhooks, args });
    if (policy) await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
    kubelet = await startPageKubelet(cluster, ns);
  });
  afterAll(async () => {
    await kubelet?.stop();
    await scene?.wave.stop();
  });

  it.concurrent.for(kinds)(`keep their pages in a canary and in a halt, in namespace ${ns}: %s`, async (kind) => {
    const page = `page-${kind.toLowerCase()}`;
    const [canary = "", ...others] = ["canary", "second", "third"].map((name) => `${name}-${kind.toLowerCase()}`);
    const resource = (name: string) => `${kind.toLowerCase()}/${name}`;
    const kubectl = (...args: string[]) => cluster.kubectl(["-n", ns, ...args]);
    const event = (name: string, reason: string) =>
      until(`Event ${reason} of ${name}`, async () =>
        (await waveEvents(cluster, ns, name)).find((each) => each.reason === reason),
      );
    await scene.namespace.configMap(page, { page: "old" });
    for (const name of [canary, ...others]) {
      const annotations = {
        "wave.pusher.com/pin-config": "true",
        ...(name === canary && { "wave.pusher.com/priority": "10" }),
      };
      const spec = kind === "Deployment" ? { progressDeadlineSeconds: 12 } : {};
      const podSpec = { ...readsPages([page]), ...kubelet.placement };
      await scene.namespace.create(workload(name, podSpec, { kind, annotations, spec }));
    }
    for (const name of [canary, ...others]) {
      await newHash(cluster, ns, kind, name);
      await rolledOut(scene, kind, name);
      expect(await pagesRead(scene, name)).toEqual(["old"]);
    }
    const before = await recordedHash(cluster, ns, kind, canary);
    await scene.namespace.edit("ConfigMap", page, { page: "bad" });
    await newHash(cluster, ns, kind, canary, before);
    for (const name of others) expect(await pagesOfReplacedPods(scene, name)).toEqual(["old"]);
    await until("a Pod that crashes", async () => (kubelet.crashes(canary) ? true : undefined));
    for (const name of others) {
      const { type } = await event(name, "RolloutHalted");
      expect(type).toBe("Warning");
      expect(await pagesOfReplacedPods(scene, name)).toEqual(["old"]);
      if (kind !== "DaemonSet") {
        await kubectl("scale", resource(name), "--replicas=2");
        await rolledOut(scene, kind, name);
        expect(await podUids(scene, name)).toHaveLength(2);
        expect(await pagesRead(scene, name)).toEqual(["old"]);
      }
    }
    // Other clients change the pod templates, which replaces the Pods.
    const [second = "", third = ""] = others;
    const uids = await podUids(scene, third);
    await kubectl("set", "image", resource(second), "app=nginx:2");
    await kubectl("rollout", "restart", resource(third));
    for (const name of others) {
      await rolledOut(scene, kind, name);
      expect(await pagesRead(scene, name)).toEqual(["old"]);
    }
    expect(await imagesOf(scene, second)).toEqual(["nginx:2"]);
    expect(await podUids(scene, third)).not.toContain(uids[0]);
    // The next edit ends the halt.
    await scene.namespace.edit("ConfigMap", page, { page: "fixed" });
    for (const name of others) {
      await until(`the fixed page of ${name}`, async () =>
        (await pagesRead(scene, name)).join() === "fixed" ? true : undefined,
      );
    }
  });
}
