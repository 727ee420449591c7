import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until, wave as waveCommand } from "../control-plane/wave-process.ts";
import { kindNames, type WorkloadKind, workload, workloadPath } from "../end-to-end/objects.ts";
import { newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { type PageKubelet, startPageKubelet } from "./page-kubelet.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, imagesOf, pagesOfReplacedPods, pagesRead, readsPages } from "./scenarios.ts";

/** Without a settle time there is no interval after the first hash: the workloads are due together, and their priorities decide. */
const flags = ["--pin-config", "--settle=0", "--soak=10s", "--max-concurrent-rollouts=1", "--rollout-timeout=12s"];

describeOnControlPlane("a halted change of a pinned workload that a person resumes", (cluster) => {
  describeResume(cluster, "resumed", kindNames, { policy: true, webhooks: true });
  describeResume(cluster, "resumed-by-webhook", ["Deployment"], { policy: false, webhooks: true });
  describeResume(cluster, "resumed-by-policy", kindNames, { policy: true, webhooks: false });
});

function describeResume(
  cluster: Cluster,
  ns: string,
  kinds: readonly WorkloadKind[],
  { policy, webhooks }: { readonly policy: boolean; readonly webhooks: boolean },
): void {
  let scene: Scene;
  let kubelet: PageKubelet;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks, args: flags });
    if (policy) await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
    kubelet = await startPageKubelet(cluster, ns);
  });
  afterAll(async () => {
    await kubelet?.stop();
    await scene?.wave.stop();
  });

  describe.concurrent.for(kinds)(`of a %s in namespace ${ns}`, (kind) => {
    it("is rolled after a new image, and together with a new image", async () => {
      const page = `page-${kind.toLowerCase()}`;
      const [canary, second, third] = ["canary", "second", "third"].map((name) => `${name}-${kind.toLowerCase()}`) as [
        string,
        string,
        string,
      ];
      const stateIs = (name: string, state: { readonly pages: string; readonly images: string }) =>
        until(`${name} with ${JSON.stringify(state)}`, async () => {
          const [pages, images] = [await pagesRead(scene, name), await imagesOf(scene, name)];
          return pages.join() === state.pages && images.join() === state.images ? true : undefined;
        });
      await scene.namespace.configMap(page, { page: "old" });
      for (const name of [canary, second, third]) {
        const isCanary = name === canary;
        const annotations = {
          "wave.pusher.com/pin-config": "true",
          ...(isCanary && { "wave.pusher.com/priority": "10" }),
        };
        // Only the Pods of the canary crash with the page.
        const podSpec = { ...readsPages([page]), ...(isCanary && kubelet.placement) };
        await scene.namespace.create(workload(name, podSpec, { kind, annotations }));
      }
      for (const name of [canary, second, third]) {
        await newHash(cluster, ns, kind, name);
        await rolledOut(scene, kind, name);
        expect(await pagesRead(scene, name)).toEqual(["old"]);
      }
      if (kind === "Deployment") {
        // Only now: on a slow machine, the first Pod needs more time.
        await scene.namespace.merge(workloadPath(ns, kind, canary), { spec: { progressDeadlineSeconds: 12 } });
      }
      const before = await recordedHash(cluster, ns, kind, canary);
      await scene.namespace.edit("ConfigMap", page, { page: "bad" });
      await newHash(cluster, ns, kind, canary, before);
      for (const name of [second, third]) {
        await until(`Event RolloutHalted of ${name}`, async () =>
          (await waveEvents(cluster, ns, name)).find(({ reason }) => reason === "RolloutHalted"),
        );
      }

      await cluster.kubectl(["-n", ns, "set", "image", `${kind.toLowerCase()}/${second}`, "app=nginx:2"]);
      await rolledOut(scene, kind, second);
      await stateIs(second, { pages: "old", images: "nginx:2" });
      await until(`${second} to be resumed`, async () => {
        const output = await resume(cluster, ns, `${kind.toLowerCase()}/${second}`);
        return output.includes("resumed: it rolls despite the failures") ? true : undefined;
      });
      await stateIs(second, { pages: "bad", images: "nginx:2" });

      expect(await pagesOfReplacedPods(scene, third)).toEqual(["old"]);
      await scene.namespace.merge(workloadPath(ns, kind, third), {
        metadata: { annotations: { "wave.pusher.com/resumed": new Date().toISOString() } },
        spec: { template: { spec: readsPages([page], "nginx:2") } },
      });
      await stateIs(third, { pages: "bad", images: "nginx:2" });
      await rolledOut(scene, kind, third);
      expect(await pagesOfReplacedPods(scene, third)).toEqual(["bad"]);
    });
  });
}

/** Runs `wave resume` with the flags of the running Wave, and returns its output. */
function resume({ kubeconfig }: Cluster, ns: string, target: string): Promise<string> {
  const args = ["resume", target, "--kubeconfig", kubeconfig, "-n", ns, ...flags];
  return new Promise((resolve) => {
    execFile(waveCommand, args, (_error, out, err) => resolve(out + err));
  });
}
