import { afterAll, beforeAll, expect, it } from "vitest";
import { rolledOut, type Scene, startScene } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { newHash, recordedHash } from "../end-to-end/state.ts";
import { pointsPods } from "./pointed.ts";
import {
  applyPointingPolicy,
  configMapsOfPods,
  createPinned,
  pagesOfReplacedPods,
  pagesRead,
  removePointingPolicy,
} from "./scenarios.ts";

const kind = "Deployment";
const ns = "pinned-uninstall";
const args = ["--pin-config"];

describeOnControlPlane("a pinned workload", (cluster) => {
  let scene: Scene;
  const roll = async (page: string, name: string) => {
    const before = await recordedHash(cluster, ns, kind, name);
    await scene.namespace.edit("ConfigMap", name, { page });
    await newHash(cluster, ns, kind, name, before);
    await rolledOut(scene, kind, name);
  };
  const isReady = (name: string) => rolledOut(scene, kind, name);
  /** The ConfigMaps that the Pods reference, sorted: a copy has digits after its name. */
  const references = async (name: string) => [...(await configMapsOfPods(scene, name)).values()].flat().sort();

  beforeAll(async () => {
    // With webhooks, Wave points Pods, too.
    scene = await startScene(cluster, ns, { webhooks: false, args });
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  it("starts live Pods if the policy is removed before an edit", async () => {
    const name = "before-edit";
    await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
    await createPinned(scene, kind, name);
    await removePointingPolicy(cluster, ns);
    await pointsPods(cluster, ns, "live");
    await roll("new", name);
    expect(await references(name)).toEqual([name]);
    expect(await pagesRead(scene, name)).toEqual(["new"]);
  });

  it("starts live Pods if the policy is removed after the copy was stored and before a Pod is created", async () => {
    const name = "after-store";
    await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
    await createPinned(scene, kind, name);
    await cluster.kubectl(["-n", ns, "scale", `deployment/${name}`, "--replicas=0"]);
    await isReady(name);
    await removePointingPolicy(cluster, ns);
    await pointsPods(cluster, ns, "live");
    await cluster.kubectl(["-n", ns, "scale", `deployment/${name}`, "--replicas=2"]);
    await isReady(name);
    expect(await references(name)).toEqual([name, name]);
  });

  it("keeps running Pods and starts live ones if Wave and its policies are removed under a hold", async () => {
    const name = "uninstalled";
    await applyPointingPolicy(cluster, ns);
    await pointsPods(cluster, ns);
    await createPinned(scene, kind, name);
    const held = { "wave.pusher.com/hold": "true" };
    await scene.namespace.merge(`/apis/apps/v1/namespaces/${ns}/deployments/${name}`, {
      metadata: { annotations: held },
    });
    await scene.namespace.edit("ConfigMap", name, { page: "new" });
    await scene.wave.stop();
    await removePointingPolicy(cluster, ns);
    await pointsPods(cluster, ns, "live");
    expect(await pagesRead(scene, name)).toEqual(["old"]);
    await cluster.kubectl(["-n", ns, "scale", `deployment/${name}`, "--replicas=2"]);
    await isReady(name);
    expect(await pagesRead(scene, name)).toEqual(["new", "old"]);
    // The steps of docs/pinning.md: when no Pod reads copies, they can be deleted.
    await cluster.kubectl(["-n", ns, "rollout", "restart", `deployment/${name}`]);
    await isReady(name);
    await until("only live Pods", async () => (await references(name)).every((each) => each === name) || undefined);
    await cluster.kubectl(["-n", ns, "delete", "configmaps", "--selector", "wave.pusher.com/pinned-copy=true"]);
    expect(await pagesOfReplacedPods(scene, name)).toEqual(["new"]);
    await isReady(name);
  });
});

describeOnControlPlane("a workload that a webhook pins", (cluster) => {
  it("starts live Pods while the webhook is down, and while it is removed", async () => {
    const name = "web";
    const scene = await startScene(cluster, "pinned-webhook-uninstall", { webhooks: true, args });
    await pointsPods(cluster, scene.namespace.name);
    await createPinned(scene, kind, name);
    await scene.wave.stop();
    await scene.namespace.edit("ConfigMap", name, { page: "new" });
    expect(await pagesRead(scene, name)).toEqual(["old"]);
    expect(await pagesOfReplacedPods(scene, name)).toEqual(["new"]);
    await cluster.kubectl(["delete", "mutatingwebhookconfiguration", scene.configuration, "--ignore-not-found"]);
    expect(await pagesOfReplacedPods(scene, name)).toEqual(["new"]);
    await rolledOut(scene, kind, name);
  });
});
