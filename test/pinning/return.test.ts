import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { kindNames, type WorkloadKind, workload } from "../end-to-end/objects.ts";
import { getWorkload, newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { type PageKubelet, startPageKubelet } from "./page-kubelet.ts";
import { pointsPods } from "./pointed.ts";
import { applyPointingPolicy, pagesRead, readsPages } from "./scenarios.ts";

const returns = { "wave.pusher.com/pin-config": "true", "wave.pusher.com/on-failure": "return" };

/** Long enough for a good rollout on a busy machine. */
const rolloutTimeout = "12s";

describeOnControlPlane("a rollout that fails, with on-failure: return,", (cluster) => {
  describeReturns("returns-by-policy", { policy: true, webhooks: false });
  describeReturns("returns-with-webhook", { policy: true, webhooks: true });
  describeReturns("returns-by-webhook", { policy: false, webhooks: true });

  function describeReturns(ns: string, { policy, webhooks }: { policy: boolean; webhooks: boolean }): void {
    let scene: Scene;
    let kubelet: PageKubelet;
    beforeAll(async () => {
      scene = await startScene(cluster, ns, {
        webhooks,
        args: ["--pin-config", `--rollout-timeout=${rolloutTimeout}`],
      });
      if (policy) await applyPointingPolicy(cluster, ns);
      await pointsPods(cluster, ns);
      kubelet = await startPageKubelet(cluster, ns);
    });
    afterAll(async () => {
      await kubelet?.stop();
      await scene?.wave.stop();
    });

    describe.concurrent.for(kindNames)(`of a %s in namespace ${ns}`, (kind) => {
      it("goes back to the configuration before, and follows the next edit", async () => {
        const app = `app-${kind.toLowerCase()}`;
        await createReturning(scene, kubelet, kind, app);
        const good = await recordedHash(cluster, ns, kind, app);
        await scene.namespace.edit("ConfigMap", app, { page: "bad" });
        const bad = await newHash(cluster, ns, kind, app, good);
        await until("a Pod that crashes", async () => (kubelet.crashes(app) ? true : undefined));
        expect(await newHash(cluster, ns, kind, app, bad)).toBe(good);
        await rolledOut(scene, kind, app);
        expect(await pagesRead(scene, app)).toEqual(["old"]);

        const events = await waveEvents(cluster, ns, app);
        const returned = events.filter(({ reason }) => reason === "RolloutReturned");
        expect(returned.map(({ type }) => type)).toEqual(["Warning", "Warning"]);
        expect(returned.map(({ involvedObject }) => involvedObject.kind).toSorted()).toEqual(["ConfigMap", kind]);
        const { metadata, spec } = await getWorkload(cluster, ns, kind, app);
        expect(metadata.annotations).toHaveProperty(["wave.pusher.com/rejected-configmaps"]);
        // It does not return again.
        const pinned = spec.template.metadata.annotations?.["wave.pusher.com/pinned"];
        expect(metadata.annotations).toHaveProperty(["wave.pusher.com/previous-pins"], `${good} ${pinned}`);
        await scene.caughtUp();
        expect(await recordedHash(cluster, ns, kind, app)).toBe(good);

        await scene.namespace.edit("ConfigMap", app, { page: "fixed" });
        await newHash(cluster, ns, kind, app, good);
        await rolledOut(scene, kind, app);
        expect(await pagesRead(scene, app)).toEqual(["fixed"]);
      });
    });
  }

  it.each([
    ["goes back", "old"],
    ["rolls to a newer edit", "fixed"],
  ])("of an ordered StatefulSet %s although Kubernetes waits for the Pod that crashes", async (_, page) => {
    const [ns, app] = [`returns-ordered-${page}`, "db"];
    const scene = await startScene(cluster, ns, {
      webhooks: false,
      args: ["--pin-config", `--rollout-timeout=${rolloutTimeout}`],
    });
    await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
    const kubelet = await startPageKubelet(cluster, ns);
    try {
      await createReturning(scene, kubelet, "StatefulSet", app, { podManagementPolicy: "OrderedReady", replicas: 3 });
      const good = await recordedHash(cluster, ns, "StatefulSet", app);
      await scene.namespace.edit("ConfigMap", app, { page: "bad" });
      const bad = await newHash(cluster, ns, "StatefulSet", app, good);
      await until("a Pod that crashes", async () => (kubelet.crashes(app) ? true : undefined));
      if (page !== "old") await scene.namespace.edit("ConfigMap", app, { page });
      const next = await newHash(cluster, ns, "StatefulSet", app, bad);
      expect(next === good).toBe(page === "old");
      await rolledOut(scene, "StatefulSet", app);
      expect(await recordedHash(cluster, ns, "StatefulSet", app)).toBe(next);
      expect(await pagesRead(scene, app)).toEqual([page]);
    } finally {
      await kubelet.stop();
      await scene.wave.stop();
    }
  });
});

/** Creates a workload that returns on failure, and waits until it is pinned and its rollout is complete. */
async function createReturning(
  scene: Scene,
  kubelet: PageKubelet,
  kind: WorkloadKind,
  app: string,
  spec: Record<string, unknown> = {},
): Promise<void> {
  const { cluster, namespace } = scene;
  await namespace.configMap(app, { page: "old" });
  const podSpec = { ...readsPages([app]), ...kubelet.placement };
  await namespace.create(workload(app, podSpec, { kind, annotations: returns, ...(spec && { spec }) }));
  await until(`pins of ${app}`, async () => {
    const { spec: stored } = await getWorkload(cluster, namespace.name, kind, app);
    return stored.template.metadata.annotations?.["wave.pusher.com/pinned"];
  });
  await rolledOut(scene, kind, app);
}
