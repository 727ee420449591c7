import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { workload } from "../end-to-end/objects.ts";
import { getWorkload, recordedHash, revisionsToBe } from "../end-to-end/state.ts";
import { reads, type Scene, startScene, writtenByController } from "./admitted.ts";

const ns = "admission-key";
const hashPath = "wave.pusher.com/config-hash";

describeOnControlPlane("admission with a hash key", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true, args: [`--hash-key-secret=${ns}/wave-hash-key`] });
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  it("gives a workload the keyed hash from its first Pod on, and the controller computes the same hash", async () => {
    await scene.namespace.configMap("app", { a: "1" });
    await scene.namespace.create(workload("app", reads("app")));
    const hash = await recordedHash(cluster, ns, "Deployment", "app");
    expect(hash).toMatch(/^v2-[0-9a-f]{8}:[0-9a-f]{64}$/);
    await scene.caughtUp();
    await revisionsToBe(cluster, ns, "Deployment", "app", 1);
    expect(await recordedHash(cluster, ns, "Deployment", "app")).toBe(hash);
    expect(await writtenByController(scene, "Deployment", "app")).toBe(false);
  });

  it("replaces a hash that was copied from another cluster when the workload is created", async () => {
    await scene.namespace.configMap("copied", { a: "1" });
    const foreign = `v2-00000000:${"0".repeat(64)}`;
    const annotations = { "wave.pusher.com/recorded-config": `${foreign} ${foreign}` };
    const { spec, ...copied } = workload("copied", reads("copied"), { annotations });
    const metadata = { ...spec.template.metadata, annotations: { [hashPath]: foreign } };
    await scene.namespace.create({ ...copied, spec: { ...spec, template: { ...spec.template, metadata } } });
    const { metadata: admitted } = await getWorkload(cluster, ns, "Deployment", "copied");
    const hash = await recordedHash(cluster, ns, "Deployment", "copied");
    expect(hash).toMatch(/^v2-(?!00000000)[0-9a-f]{8}:/);
    expect(admitted.annotations).not.toHaveProperty(["wave.pusher.com/recorded-config"]);
    await scene.caughtUp();
    await revisionsToBe(cluster, ns, "Deployment", "copied", 1);
  });
});
