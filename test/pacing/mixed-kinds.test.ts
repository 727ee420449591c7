import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import type { WorkloadOptions } from "../end-to-end/objects.ts";
import { type MixedScene, mixedScene, type ScenePod } from "./mixed-scene.ts";

const uidsOf = (pods: readonly ScenePod[]) => pods.map(({ metadata }) => metadata.uid).sort();

describeOnOwnControlPlane("a mixed Pod", (cluster) => {
  let wave: WaveProcess;
  beforeAll(async () => {
    wave = await startWave(["--kubeconfig", cluster.kubeconfig]);
  });
  afterAll(() => wave?.stop());

  const reported: MixedScene[] = [];

  it.concurrent("waits for a PodDisruptionBudget that does not allow its eviction, and no other Pod is replaced", async () => {
    const budgets = "/apis/policy/v1/namespaces/mixed-budget/poddisruptionbudgets";
    const scene = await mixedScene(cluster, "mixed-budget", 3, { spec: { replicas: 3 } }, async () => {
      const spec = { minAvailable: 3, selector: { matchLabels: { app: "web" } } };
      await cluster.api("POST", budgets, { metadata: { name: "web" }, spec });
      await until("the status of the budget", async () => {
        const { status } = await cluster.api<{ status?: { expectedPods?: number } }>("GET", `${budgets}/web`);
        return status?.expectedPods === 3 ? true : undefined;
      });
    });
    const { kept, mixed, release, ready, replaced, event, events } = scene;
    await release();
    const name = mixed.metadata.name;
    await event(
      "PodsMixed",
      `Pod "${name}" may run configuration that was reverted. A PodDisruptionBudget does not allow`,
    );
    expect(uidsOf(await ready())).toEqual(uidsOf([...kept, mixed]));
    expect(await events("PodEvicted")).toEqual([]);
    // The next attempt is refused, too: the metric and the list still count the Pod.
    expect(await wave.metrics()).toMatch(/^wave_mixed_workloads [1-9]/m);
    await cluster.api("DELETE", `${budgets}/web`);
    expect(uidsOf(await replaced())).toEqual(expect.arrayContaining(uidsOf(kept)));
    await event("PodEvicted", `Pod "${name}" evicted`);
    expect(await events("PodEvicted")).toHaveLength(1);
  });

  it.concurrent.for<[string, number, WorkloadOptions]>([
    ["mixed-statefulset", 3, { kind: "StatefulSet", spec: { replicas: 3 } }],
    ["mixed-daemonset", 1, { kind: "DaemonSet", annotations: { "wave.pusher.com/mixed": "evict" } }],
  ])("of a workload with its own names is evicted, and no other: %s", async ([ns, pods, options]) => {
    const { kept, mixed, release, replaced, event, events } = await mixedScene(cluster, ns, pods, options);
    await release();
    const after = await replaced();
    expect(after).toHaveLength(pods);
    expect(uidsOf(after)).toEqual(expect.arrayContaining(uidsOf(kept)));
    await event("PodEvicted", `Pod "${mixed.metadata.name}" evicted`);
    expect(await events("PodEvicted")).toHaveLength(1);
  });

  it.concurrent("of a DaemonSet with one Pod is replaced by a rollout", async () => {
    const scene = await mixedScene(cluster, "mixed-one-node", 1, { kind: "DaemonSet" });
    await scene.release();
    await scene.replaced();
    await scene.event("PodsMixed", "Wave starts a rollout.");
    expect(await scene.events("PodEvicted")).toEqual([]);
  });

  it.concurrent.for<[string, string, WorkloadOptions, object]>([
    ["mixed-paused", "The workload is paused.", { spec: { replicas: 2 } }, { paused: true }],
    [
      "mixed-on-delete",
      "The update strategy is OnDelete.",
      { kind: "StatefulSet", spec: { replicas: 2 } },
      { updateStrategy: { type: "OnDelete", rollingUpdate: null } },
    ],
  ])("is only reported: %s", async ([ns, message, options, spec]) => {
    const scene = await mixedScene(cluster, ns, 2, options, (merge) => merge({ spec }));
    await scene.release();
    await scene.event("PodsMixed", message);
    expect(uidsOf(await scene.ready())).toEqual(uidsOf([...scene.kept, scene.mixed]));
    expect(await scene.events("PodEvicted")).toEqual([]);
    reported.push(scene);
  });

  // After all others, whose workloads have no mixed Pods any more.
  it("is counted in the metrics until it is gone", async () => {
    const metric = (count: number) =>
      until(
        `${count} mixed Pods in the metrics`,
        async () => {
          const lines = await wave.metrics();
          const is = (name: string) => lines.includes(`\n${name} ${count}\n`);
          return is("wave_mixed_workloads") && is("wave_mixed_pods") ? true : undefined;
        },
        240_000,
      );
    expect(reported).toHaveLength(2);
    await metric(2);
    for (const { mixed, remove } of reported) await remove(mixed);
    await metric(0);
  });
});
