import { afterAll, beforeAll, expect, it } from "vitest";
import { type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { workload } from "../end-to-end/objects.ts";
import { getWorkload, newHash } from "../end-to-end/state.ts";
import { volumeOf } from "./driver.ts";

const ns = "csi-scheduling-hold";

describeOnControlPlane("a workload whose SecretProviderClass makes the Secret that it reads", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, { webhooks: true });
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  it("is scheduled, because the driver makes the Secret when a Pod mounts the volume", async () => {
    const container = { name: "app", image: "nginx", envFrom: [{ secretRef: { name: "db" } }] };
    await scene.namespace.create(workload("web", { containers: [container], volumes: [volumeOf("vault")] }));
    const { spec } = await getWorkload(cluster, ns, "Deployment", "web");
    expect(spec.template.spec.schedulerName).toBe("default-scheduler");
    await scene.namespace.secret("db", { password: "1" });
    expect(await newHash(cluster, ns, "Deployment", "web")).toMatch(/^v2:/);
  });
});
