import { afterAll, beforeAll, expect, it } from "vitest";
import type { AnyObject } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workload, workloadPath } from "../end-to-end/objects.ts";

const ns = "held-state";
const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "page" } }] }] };

interface Deployment extends AnyObject {
  readonly spec: { readonly template: { readonly metadata: AnyObject["metadata"] } };
}

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
    const get = () => cluster.api<Deployment>("GET", path);
    const hashOf = ({ spec }: Deployment) => spec.template.metadata.annotations?.["wave.pusher.com/config-hash"];
    const stateOf = ({ metadata }: Deployment) => metadata.annotations?.["wave.pusher.com/state"];
    const annotate = (hold: string | null) =>
      namespace.merge(path, { metadata: { annotations: { "wave.pusher.com/hold": hold } } });
    const first = await until("the first hash", async () => hashOf(await get()));
    await annotate("true");
    const { generation = 0 } = (await get()).metadata;
    await namespace.edit("ConfigMap", "page", { a: "2" });
    await until("the state", async () => (stateOf(await get()) === "held" ? true : undefined));
    const held = await get();
    expect(hashOf(held)).toBe(first);
    // A Deployment counts changes of its annotations: the state, and the note that its configuration differs.
    expect(held.metadata.generation).toBeLessThanOrEqual(Number(generation) + 2);
    await annotate(null);
    await until("the rollout", async () => (hashOf(await get()) === first ? undefined : true));
    await until("the end of the state", async () => (stateOf(await get()) === undefined ? true : undefined));
    const rolls = wave.log().match(/"msg":"patched".*"outcome":"roll"/g);
    expect(rolls).toHaveLength(1);
  });
});
