import { afterAll, expect, it } from "vitest";
import { rolledOut, type Scene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { pointsPods } from "./pointed.ts";
import {
  applyPointingPolicy,
  pagesOfNewPods,
  pagesOfReplacedPods,
  pagesRead,
  podUids,
  readsPages,
} from "./scenarios.ts";

const kind = "Deployment";
const others = ["second", "third"];
const all = ["canary", ...others];

describeOnControlPlane("pinned workloads that read one ConfigMap", (cluster) => {
  const started: WaveProcess[] = [];
  /** Starts a Wave whose canary must be complete for ten minutes, and creates three pinned Deployments. */
  const start = async (ns: string): Promise<Pick<Scene, "cluster" | "namespace"> & { readonly scene: Scene }> => {
    const namespace: Namespace = await makeNamespace(cluster, ns);
    const flags = [
      `--namespaces=${ns}`,
      "--pin-config",
      // Without a settle time there is no interval: the three Deployments are due together, and their priorities decide.
      "--settle=0",
      "--soak=600s",
      "--max-concurrent-rollouts=1",
    ];
    const wave = await startWave(["--kubeconfig", cluster.kubeconfig, ...flags], { paced: true });
    started.push(wave);
    await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
    await namespace.configMap("shared", { page: "old" });
    const scene: Scene = { cluster, namespace, wave, configuration: "", caughtUp: async () => {} };
    for (const name of all) {
      const annotations = {
        "wave.pusher.com/pin-config": "true",
        ...(name === "canary" && { "wave.pusher.com/priority": "10" }),
      };
      const spec = { progressDeadlineSeconds: 15 };
      await namespace.create(workload(name, readsPages(["shared"]), { annotations, spec }));
    }
    for (const name of all) {
      await newHash(cluster, ns, kind, name);
      await rolledOut(scene, kind, name);
      expect(await pagesRead(scene, name)).toEqual(["old"]);
    }
    return { cluster, namespace, scene };
  };
  const event = (ns: string, name: string, reason: string) =>
    until(`Event ${reason} of ${name}`, async () =>
      (await waveEvents(cluster, ns, name)).find((each) => each.reason === reason),
    );
  afterAll(async () => {
    for (const wave of started) await wave.stop();
  });

  it("keep their pages in the middle of a canary when Pods are evicted and workloads are scaled", async () => {
    const ns = "pinned-canary";
    const { namespace, scene } = await start(ns);
    const before = await recordedHash(cluster, ns, kind, "canary");
    await namespace.edit("ConfigMap", "shared", { page: "new" });
    await newHash(cluster, ns, kind, "canary", before);
    await rolledOut(scene, kind, "canary");
    expect(await pagesRead(scene, "canary")).toEqual(["new"]);
    for (const name of others) {
      await event(ns, name, "RolloutHeld");
      expect(await pagesOfReplacedPods(scene, name)).toEqual(["old"]);
      await cluster.kubectl(["-n", ns, "scale", `deployment/${name}`, "--replicas=3"]);
      await rolledOut(scene, kind, name);
      expect(await podUids(scene, name)).toHaveLength(3);
      expect(await pagesRead(scene, name)).toEqual(["old"]);
    }
    // A Pod of the eviction API, as a drain of a node sends it.
    const uids = await podUids(scene, "canary");
    const [pod] = await cluster.list(`/api/v1/namespaces/${ns}/pods?labelSelector=app=canary`);
    const name = pod?.metadata.name ?? "";
    await cluster.api("POST", `/api/v1/namespaces/${ns}/pods/${name}/eviction`, { metadata: { name } });
    expect(await pagesOfNewPods(scene, "canary", uids)).toEqual(["new"]);
  });

  it("keep their pages in the middle of a halt when Pods are evicted", async () => {
    const ns = "pinned-halt";
    const { namespace, scene } = await start(ns);
    // The new Pod of the canary is refused, so that its rollout fails.
    const quota = `/api/v1/namespaces/${ns}/resourcequotas`;
    await cluster.api("POST", quota, { metadata: { name: "full" }, spec: { hard: { pods: `${all.length}` } } });
    await until("the quota to be counted", async () => {
      const { status } = await cluster.api<{ status?: { used?: { pods?: string } } }>("GET", `${quota}/full`);
      return status?.used?.pods === `${all.length}` ? true : undefined;
    });
    await namespace.edit("ConfigMap", "shared", { page: "new" });
    for (const name of others) await event(ns, name, "RolloutHalted");
    for (const name of others) expect(await pagesOfReplacedPods(scene, name)).toEqual(["old"]);
    expect(await pagesRead(scene, "canary")).toEqual(["old"]);
    // Its old Pod is replaced from the old revision, or from the new one, which is the change itself.
    await cluster.api("DELETE", `${quota}/full`);
    await until("the canary to be complete", async () => {
      const pages = await pagesRead(scene, "canary");
      return pages.join() === "new" ? true : undefined;
    });
    for (const name of others) expect(await pagesRead(scene, name)).toEqual(["old"]);
  });
});
