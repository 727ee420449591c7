import { expect, it } from "vitest";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, workload } from "../end-to-end/objects.ts";
import { waveEvents } from "../end-to-end/state.ts";
import { besieged, during, expectPeace } from "./siege.ts";

const noPods = { spec: { replicas: 0 } };

/** Returns how often Wave reported something about a workload. A repetition increases the count of the first Event. */
async function timesReported(cluster: Cluster, namespace: string, name: string): Promise<number> {
  return (await waveEvents(cluster, namespace, name)).reduce((sum, { count = 1 }) => sum + count, 0);
}

describeOnControlPlane("a tenant who makes the largest objects that the API server takes", () => {
  const siege = besieged();

  it("delays no other workload by a Deployment with 5,000 variables that changes again and again", async () => {
    const { namespace } = siege().tenant;
    await namespace.secret("many", { key0: "0" });
    const env = Array.from({ length: 5_000 }, (_, i) => ({
      name: `V${i}`,
      valueFrom: { secretKeyRef: { name: "many", key: `key${i}`, optional: true } },
    }));
    const outcome = await during(siege(), async () => {
      await namespace.create(workload("wide", { containers: [{ ...container, env }] }, noPods));
      for (let i = 0; i < 10; i++) {
        const patch = { metadata: { annotations: { touched: String(i) } } };
        await namespace.merge(`/apis/apps/v1/namespaces/tenant/deployments/wide`, patch);
      }
    });
    expectPeace(outcome);
  });

  it("delays no other workload, and keeps no memory, after edits of a ConfigMap of 40,000 keys that 20 workloads read", async () => {
    const { namespace } = siege().tenant;
    const keys = (edit: number) =>
      Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`key-${edit}-${i}`, ""]));
    await namespace.configMap("keys", keys(0));
    const containers = [{ ...container, envFrom: [{ configMapRef: { name: "keys" } }] }];
    for (let i = 0; i < 20; i++) await namespace.create(workload(`reader-${i}`, { containers }, noPods));
    const outcome = await during(siege(), async () => {
      for (let i = 1; i <= 24; i++) {
        // All at once: a merge patch would keep the old keys next to the new ones.
        const path = "/api/v1/namespaces/tenant/configmaps/keys";
        await siege().tenant.cluster.api("PUT", path, { metadata: { name: "keys" }, data: keys(i) });
      }
    });
    expectPeace(outcome);
  });

  it("writes one Event for an annotation of 244 KiB of invalid names, and delays no other Event", async () => {
    const { cluster, tenant } = siege();
    const names = Array.from({ length: 40_000 }, (_, i) => `B_${i}`).join(",");
    const annotations = { "wave.pusher.com/extra-configmaps": names.slice(0, 244 * 1024) };
    const eventsBefore = (await cluster.list("/api/v1/namespaces/tenant/events")).length;
    const outcome = await during(siege(), async () => {
      await tenant.namespace.create(workload("bad", { containers: [container] }, { ...noPods, annotations }));
      const [event] = await until("the Event", async () => {
        const events = await waveEvents(cluster, "tenant", "bad");
        return events.length > 0 ? events : undefined;
      });
      expect(event?.type).toBe("Warning");
      expect(event?.message.length).toBeLessThanOrEqual(1024);
      const reported = await timesReported(cluster, "victim", "app");
      await until("the victim's next Event", async () =>
        (await timesReported(cluster, "victim", "app")) > reported ? true : undefined,
      );
    });
    expectPeace(outcome);
    const events = (await cluster.list("/api/v1/namespaces/tenant/events")).length - eventsBefore;
    expect(events, "Events in the tenant's namespace").toBeLessThan(5);
  });
});

describeOnControlPlane("a tenant who makes many small objects", () => {
  const siege = besieged();

  it("uses bounded memory for 500 small workloads that name 1,000 objects each", async () => {
    const { namespace } = siege().tenant;
    const names = (i: number) => Array.from({ length: 990 }, (_, j) => (i * 990 + j).toString(36)).join(",");
    const greedy = (i: number) => ({ ...noPods, annotations: { "wave.pusher.com/extra-configmaps": names(i) } });
    const outcome = await during(siege(), async () => {
      for (let i = 0; i < 500; i++) {
        await namespace.create(workload(`greedy-${i}`, { containers: [container] }, greedy(i)));
      }
    });
    expectPeace(outcome);
    expect(await siege().wave.metrics()).toMatch(/^wave_cache_left_out_objects [1-9]/m);
  });
});
