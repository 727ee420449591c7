import { expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave, until } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workload, workloadPath } from "../end-to-end/objects.ts";
import { newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";
import { deploymentWrites } from "./written.ts";

const template = (ns: string, name: string) => workloadPath(ns, "Deployment", name);
const reads = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "app" } }] }] };

describeOnControlPlane("configuration or a hash that changes again and again", (cluster) => {
  it.concurrent("causes at most twice for 100 edits in 5 s, and the last rollout contains the last edit", async () => {
    const ns = "flapping";
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { edit: "0" });
    await namespace.create(workload("app", reads));
    const wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`], { paced: true });
    try {
      await newHash(cluster, ns, "Deployment", "app");
      const before = (await deploymentWrites(cluster, ns)).length;
      const begin = performance.now();
      for (let edit = 1; edit <= 100; edit++) {
        await namespace.edit("ConfigMap", "app", { edit: String(edit) });
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, begin + 50 * edit - performance.now())));
      }
      const tookMs = performance.now() - begin;
      await until(
        "the last edit to be rolled",
        async () =>
          (await cluster.kubectl(["get", "configmap", "app", "-n", ns])) && (await isCurrent()) ? true : undefined,
        120_000,
      );
      // The API server logs a request after the watch shows its result.
      const rollouts = await until("a rollout in the audit log", async () => {
        const writes = (await deploymentWrites(cluster, ns)).length - before;
        return writes > 0 ? writes : undefined;
      });
      // A slow machine needs longer for the edits and allows more rollouts: one in ten seconds.
      expect(rollouts).toBeLessThanOrEqual(2 + Math.floor(tookMs / 10_000));
    } finally {
      await wave.stop();
    }

    /** Expects the hash of a twin that was created after all edits. */
    async function isCurrent(): Promise<boolean> {
      const twin = await recordedHash(cluster, ns, "Deployment", "twin").catch(async () => {
        await namespace.create(workload("twin", reads));
        return undefined;
      });
      return twin !== undefined && twin === (await recordedHash(cluster, ns, "Deployment", "app"));
    }
  });

  it.concurrent("is rolled less and less often, and an Event and a metric report it", async () => {
    const ns = "flaps";
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { edit: "0" });
    await namespace.create(workload("app", reads));
    const wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`], { paced: true });
    try {
      await newHash(cluster, ns, "Deployment", "app");
      const patch = (path: string, body: object) => cluster.api("PATCH", path, body, "application/merge-patch+json");
      const configMap = `/api/v1/namespaces/${ns}/configmaps/app?fieldManager=restless`;
      await patch(configMap, { data: { edit: "1" } });
      await until("a rollout", async () =>
        (await waveEvents(cluster, ns, "app")).find(({ reason }) => reason === "ConfigChanged"),
      );
      // As after seven rollouts in ten minutes.
      await patch(template(ns, "app"), { metadata: { annotations: { "wave.pusher.com/consecutive-rollouts": "7" } } });
      await patch(configMap, { data: { edit: "2" } });
      const { message } = await until("the Event", async () =>
        (await waveEvents(cluster, ns, "app")).find(({ reason }) => reason === "ConfigurationFlaps"),
      );
      expect(message).toContain('ConfigMap "app" changed (key "edit"), last edited by "restless"');
      expect(await wave.metrics()).toContain("\nwave_workloads_flapping 1\n");
    } finally {
      await wave.stop();
    }
  });

  it.concurrent("names an owner that strips the hash, and stops writing the hash again", async () => {
    const ns = "stripping";
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("app", { edit: "0" });
    // A client that only removes fields leaves no trace in managedFields; the client that created the workload does.
    const owned = `${workloadPath(ns, "Deployment")}?fieldManager=stubborn-owner`;
    await cluster.api("POST", owned, workload("app", reads));
    const wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${ns}`], { paced: true });
    let stripping = true;
    const strip = async () => {
      const body = { spec: { template: { metadata: { annotations: { "wave.pusher.com/config-hash": null } } } } };
      const path = `${template(ns, "app")}?fieldManager=stubborn-owner`;
      while (stripping) {
        await cluster.api("PATCH", path, body, "application/merge-patch+json");
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    try {
      const recorded = await newHash(cluster, ns, "Deployment", "app");
      // The first hash may be recorded beside the pod template, where the client does not strip it.
      await namespace.edit("ConfigMap", "app", { edit: "1" });
      await newHash(cluster, ns, "Deployment", "app", recorded);
      const stripped = strip();
      const event = await until(
        "an Event that names the owner",
        async () => {
          const events = await waveEvents(cluster, ns, "app");
          return events.find(({ message }) => message.includes("stubborn-owner"));
        },
        120_000,
      );
      expect(event.type).toBe("Warning");
      await new Promise((resolve) => setTimeout(resolve, 20_000));
      stripping = false;
      await stripped;
      expect((await deploymentWrites(cluster, ns)).length).toBeLessThanOrEqual(10);
    } finally {
      stripping = false;
      await wave.stop();
    }
  });
});
