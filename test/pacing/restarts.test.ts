import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until, wave as waveCommand } from "../control-plane/wave-process.ts";
import { makeNamespace } from "../end-to-end/objects.ts";
import { hashOf, isComplete, makeApplications } from "./applications.ts";

/** Three Deployments that read one ConfigMap, and a Wave that rolls them. */
async function scene(cluster: Cluster, ns: string, state: string, soak: string, minReadySeconds = 0) {
  const namespace = await makeNamespace(cluster, ns);
  const applications = await makeApplications(cluster, namespace, 3, {}, minReadySeconds);
  await namespace.edit("ConfigMap", "shared", { state, edit: "0" });
  const args = ["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`, `--soak=${soak}`];
  const wave = await startWave(args, { paced: true });
  const end = async () => {
    await wave.stop();
    await applications.stop();
  };
  return { namespace, applications, wave, end };
}

describeOnControlPlane("a canary whose containers restart again and again", (cluster) => {
  it("halts the change, although its Pods are ready and its rollout is complete", async () => {
    const ns = "restarts-halted";
    const { namespace, applications, wave, end } = await scene(cluster, ns, "good", "20s");
    try {
      const first = await applications.onlyHash();
      await applications.complete();
      await namespace.edit("ConfigMap", "shared", { state: "restarts" });
      const halt = await until("the halt", async () =>
        (await cluster.list(`/api/v1/namespaces/${ns}/events`)).find(({ reason }) => reason === "RolloutHalted"),
      );
      expect(halt.type).toBe("Warning");
      const [canary, ...others] = (await applications.list()).filter((each) => hashOf(each) !== first);
      expect(others).toEqual([]);
      expect(canary && isComplete(canary)).toBe(true);
      expect(await wave.metrics()).toContain("\nwave_rollouts_failed 1\n");
      expect(wave.log()).toMatch(/"a rollout failed".*container .* restarted \d+ times/);
      const listed = await promisify(execFile)(waveCommand, [
        "list",
        "-n",
        ns,
        "--kubeconfig",
        cluster.kubeconfig,
      ]).catch((error: { stdout: string }) => error);
      expect(listed.stdout).toMatch(new RegExp(`${canary?.metadata.name} +failed`));
      await namespace.edit("ConfigMap", "shared", { state: "good", edit: "2" });
      await applications.onlyHash(first);
      await until("no failed rollout", async () =>
        (await wave.metrics()).includes("\nwave_rollouts_failed 0\n") ? true : undefined,
      );
    } finally {
      await end();
    }
  });

  it("halts nothing if the Pods before the rollout restarted as often", async () => {
    // The Pods before the rollout stay for some seconds, as on a node, where a new Pod needs time to start.
    const { namespace, applications, wave, end } = await scene(cluster, "restarts-before", "restarts", "5s", 6);
    try {
      const first = await applications.onlyHash();
      await applications.complete();
      await namespace.edit("ConfigMap", "shared", { edit: "1" });
      await applications.onlyHash(first);
      expect(await wave.metrics()).toContain("\nwave_rollouts_failed 0\n");
    } finally {
      await end();
    }
  });
});
