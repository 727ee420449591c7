import { afterAll, beforeAll, expect, it } from "vitest";
import { parseVerdict } from "../../src/domain/plan/verdict.ts";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workload, workloadPath } from "../end-to-end/objects.ts";
import { recordedHash } from "../end-to-end/state.ts";

const ns = "held-state";
const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "page" } }] }] };

describeOnControlPlane("the annotation with the state of a held workload", (cluster) => {
  let wave: WaveProcess;
  beforeAll(async () => {
    wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`]);
  });
  afterAll(() => wave.stop());

  it("is written once, starts no rollout, and is gone after the rollout that it was for", async () => {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.create({ kind: "ConfigMap", metadata: { name: "page" }, data: { a: "1" } });
    await namespace.create(workload("web", podSpec));
    const path = workloadPath(ns, "Deployment", "web");
    const get = () => cluster.api("GET", path);
    const hashOf = () => recordedHash(cluster, ns, "Deployment", "web");
    const stateOf = ({ metadata }: AnyObject) => metadata.annotations?.["wave.pusher.com/state"];
    const annotate = (hold: string | null) =>
      namespace.merge(path, { metadata: { annotations: { "wave.pusher.com/hold": hold } } });
    const first = await until("the first hash", hashOf);
    await annotate("true");
    const { generation = 0 } = (await get()).metadata;
    await namespace.edit("ConfigMap", "page", { a: "2" });
    await until("the state", async () => (parseVerdict(stateOf(await get()))?.reason === "hold" ? true : undefined));
    const held = await get();
    expect(await hashOf()).toBe(first);
    // A Deployment counts changes of its annotations: the state, and the note that its configuration differs.
    expect(held.metadata.generation).toBeLessThanOrEqual(Number(generation) + 2);
    await annotate(null);
    await until("the rollout", async () => ((await hashOf()) === first ? undefined : true));
    await until("the end of the state", async () => (stateOf(await get()) === undefined ? true : undefined));
    const rolls = wave.log().match(/"msg":"patched".*"outcome":"roll"/g);
    expect(rolls).toHaveLength(1);
  });
});
