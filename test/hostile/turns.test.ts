import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { reads } from "../admission/admitted.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { workload } from "../end-to-end/objects.ts";
import { recordedHash } from "../end-to-end/state.ts";
import { besieged, during, expectPeace } from "./siege.ts";

const flapping = Array.from({ length: 100 }, (_, i) => `flapping-${i}`);

describeOnControlPlane("a tenant whose ConfigMap flips 20 times a second under 100 Deployments", () => {
  const siege = besieged();

  it("keeps no workload waiting for a write permit, and leaves no waiting write when it stops", async () => {
    const { tenant, cluster, victim } = siege();
    await tenant.namespace.configMap("flips", { a: "0" });
    for (const name of flapping)
      await tenant.namespace.create(workload(name, reads("flips"), { spec: { replicas: 0 } }));
    const outcome = await during(siege(), async () => {
      for (let i = 1; i <= 400; i++) {
        await Promise.all([tenant.namespace.edit("ConfigMap", "flips", { a: String(i % 2) }), sleep(50)]);
      }
    });
    expectPeace(outcome);
    expect(outcome.edits).toBeGreaterThan(10);

    // The last edit restores the first value and frees all waiting workloads at once: no permit stays reserved without need.
    const settled = await until(
      "all of them to be settled",
      async () => {
        const hashes = await Promise.all(flapping.map((name) => recordedHash(cluster, "tenant", "Deployment", name)));
        return new Set(hashes).size === 1 ? hashes : undefined;
      },
      150_000,
    );
    expect(settled[0]).toMatch(/^v2:/);
    const seen = await victim.edit().stop();
    expect(seen.slowestMs).toBeLessThan(2_000);
  });
});
