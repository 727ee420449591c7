import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, workload, workloadPath } from "../end-to-end/objects.ts";
import { getWorkload } from "../end-to-end/state.ts";
import { type Scene, startScene, writtenByController } from "./admitted.ts";

const ns = "admission-dialects";
const optedOut = { "wave.pusher.com/update-on-config-change": "false" };
const sapHash = "pod-reloader.cs.sap.com/config-hash";
const merge = "application/merge-patch+json";

describeOnControlPlane("admission with compatibility with other controllers", (cluster) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(cluster, ns, {
      webhooks: true,
      args: ["--compatibility=wave,sap,stakater", "--settle=0"],
    });
    await scene.namespace.configMap("settings", { a: "1" });
    await until("the API server to ask", async () => {
      const path = `${workloadPath(ns, "Deployment")}?dryRun=All`;
      const answer = await cluster.api<Awaited<ReturnType<typeof getWorkload>>>("POST", path, sap("probe"));
      return answer.spec.template.metadata.annotations?.[sapHash];
    });
  });
  afterAll(async () => {
    await scene?.wave.stop();
  });

  const sap = (name: string, more: Record<string, string> = {}) => {
    const annotations = { ...optedOut, "pod-reloader.cs.sap.com/configmaps": "settings", ...more };
    return workload(name, { containers: [container] }, { annotations });
  };
  const hashesOf = async (name: string) => {
    const { spec } = await getWorkload(cluster, ns, "Deployment", name);
    return spec.template.metadata.annotations ?? {};
  };
  const patch = (name: string, what: object) => cluster.api("PATCH", workloadPath(ns, "Deployment", name), what, merge);

  it("puts the hash of a workload with SAP's annotations where SAP puts it, and restores it after a removal", async () => {
    await scene.namespace.create(sap("web"));
    const before = await hashesOf("web");
    expect(before).toEqual({ [sapHash]: expect.stringMatching(/^v2:[0-9a-f]{64}$/) });
    await patch("web", { spec: { template: { metadata: { annotations: { [sapHash]: null } } } } });
    expect(await hashesOf("web")).toEqual(before);
    expect((await getWorkload(cluster, ns, "Deployment", "web")).metadata.generation).toBe(1);
    await scene.caughtUp();
    expect(await writtenByController(scene, "Deployment", "web")).toBe(false);
  });

  it("removes a precondition that is met, and denies a request whose precondition is not met", async () => {
    await scene.namespace.create(sap("checked"));
    const { [sapHash]: current = "" } = await hashesOf("checked");
    await patch("checked", { metadata: { annotations: { [sapHash]: current } } });
    const { metadata } = await getWorkload(cluster, ns, "Deployment", "checked");
    expect(Object.keys(metadata.annotations ?? {})).not.toContain(sapHash);
    const wrong = patch("checked", { metadata: { annotations: { [sapHash]: `${current}0` } } });
    await expect(wrong).rejects.toThrow("is not the hash of the current configuration");
    await expect(scene.namespace.create(sap("new", { [sapHash]: "v2:0" }))).rejects.toThrow("denied the request");
  });

  it("rolls for an object that an expression names, although no pod spec reads the object", async () => {
    const annotations = { ...optedOut, "configmap.reloader.stakater.com/reload": "app-[0-9]+" };
    await scene.namespace.configMap("app-1", { a: "1" });
    await scene.namespace.create(workload("named", { containers: [container] }, { annotations }));
    await scene.caughtUp();
    const hash = async () => (await hashesOf("named"))["wave.pusher.com/config-hash"];
    const first = await hash();
    await scene.namespace.edit("ConfigMap", "app-1", { a: "2" });
    const second = await until("another hash", async () => {
      const now = await hash();
      return now !== undefined && now !== first ? now : undefined;
    });
    expect(second).toMatch(/^v2:/);
  });
});
