import { expect, it } from "vitest";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { startWave } from "../control-plane/wave-process.ts";
import { container, makeNamespace, workload } from "../end-to-end/objects.ts";
import { newHash, recordedHash, waveEvents } from "../end-to-end/state.ts";

const reads = { containers: [{ ...container, envFrom: [{ configMapRef: { name: "config" } }] }] };
const names = Array.from({ length: 100 }, (_, index) => `app-${index}`);

describeOnControlPlane("a tenant with a hundred workloads that flap", (cluster) => {
  it("does not keep another tenant's edits waiting, at the default rate", async () => {
    const [loud, quiet] = [await makeNamespace(cluster, "hostile-loud"), await makeNamespace(cluster, "hostile-quiet")];
    for (const namespace of [loud, quiet]) {
      await namespace.configMap("config", { a: "0" });
      for (const name of namespace === loud ? names : ["app-0"]) {
        await namespace.create(workload(name, reads, { spec: { replicas: 0 } }));
      }
    }
    const wave = await startWave(["--kubeconfig", cluster.kubeconfig, `--namespaces=${loud.name},${quiet.name}`]);
    let flapping = true;
    try {
      await Promise.all(names.map((name) => newHash(cluster, loud.name, "Deployment", name)));
      let hash = await newHash(cluster, quiet.name, "Deployment", "app-0");
      const flaps = (async () => {
        for (let flips = 1; flapping; flips++) {
          await loud.edit("ConfigMap", "config", { a: `${flips % 2}` });
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      })();
      const waited: number[] = [];
      for (let edits = 1; edits <= 10; edits++) {
        const from = performance.now();
        await quiet.edit("ConfigMap", "config", { a: `${edits}` });
        hash = await newHash(cluster, quiet.name, "Deployment", "app-0", hash);
        waited.push(performance.now() - from);
      }
      flapping = false;
      await flaps;
      // Two namespaces at ten turns a second: 0.2 s. Without fair turns it was more than a minute.
      expect(Math.max(...waited)).toBeLessThan(5_000);
      expect(await recordedHash(cluster, quiet.name, "Deployment", "app-0")).toBe(hash);
      const told = (await waveEvents(cluster, quiet.name, "app-0")).filter(({ reason }) => reason === "ConfigChanged");
      expect(told.reduce((sum, { count }) => sum + (count ?? 1), 0)).toBeGreaterThanOrEqual(9);
    } finally {
      flapping = false;
      await wave.stop();
    }
  });
});
