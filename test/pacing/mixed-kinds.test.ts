import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnOwnControlPlane } from "../control-plane/suite.ts";
import { startWave, type WaveProcess } from "../control-plane/wave-process.ts";
import type { WorkloadOptions } from "../end-to-end/objects.ts";
import { mixedScene, type ScenePod } from "./mixed-scene.ts";

const uidsOf = (pods: readonly ScenePod[]) => pods.map(({ metadata }) => metadata.uid).sort();

describeOnOwnControlPlane("a mixed Pod", (cluster) => {
  let wave: WaveProcess;
  beforeAll(async () => {
    wave = await startWave(["--kubeconfig", cluster.kubeconfig]);
  });
  afterAll(() => wave?.stop());

  it.concurrent.for<[string, number, WorkloadOptions]>([
    ["mixed-statefulset", 3, { kind: "StatefulSet", spec: { replicas: 3 } }],
    ["mixed-daemonset", 1, { kind: "DaemonSet" }],
  ])("of a workload with its own names is replaced by a rollout: %s", async ([ns, pods, options]) => {
    const { release, replaced, event } = await mixedScene(cluster, ns, pods, options);
    await release();
    expect(await replaced()).toHaveLength(pods);
    await event("ConfigChanged", "may run configuration that was reverted.");
  });

  it.concurrent.for<[string, string, WorkloadOptions, object]>([
    ["mixed-paused", "The workload is paused.", { spec: { replicas: 2 } }, { paused: true }],
    [
      "mixed-on-delete",
      "The update strategy is OnDelete.",
      { kind: "StatefulSet", spec: { replicas: 2 } },
      { updateStrategy: { type: "OnDelete", rollingUpdate: null } },
    ],
  ])("of a workload that keeps its Pods is reported: %s", async ([ns, message, options, spec]) => {
    const scene = await mixedScene(cluster, ns, 2, options, (merge) => merge({ spec }));
    await scene.release();
    await scene.event("ConfigChanged", message);
    expect(uidsOf(await scene.pods())).toEqual(uidsOf([...scene.kept, scene.mixed]));
  });
});
