import { expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { defaultPolicy, unpaced } from "../../../test/support/domain/objects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { TestCluster, workload } from "../../../test/support/fake-cluster.ts";
import type { Policy } from "../../domain/policy/policy.ts";

/** A StatefulSet `web` that Wave has not seen, with one Pod, and a function that creates and deletes its Pods. */
async function scene(policy: Partial<Policy>, annotations: Readonly<Record<string, string>> = {}) {
  const clock = new FakeClock();
  const sandbox = await startSandbox({ controllers: false, clock });
  const cluster = new TestCluster(sandbox.url, { policy: { ...defaultPolicy, ...policy } }, clock);
  const stop = new AbortController();
  const running = cluster.controller.run({ stop: stop.signal, abort: stop.signal, valid: () => true });
  onTestFinished(async () => {
    stop.abort();
    await running;
    cluster.close();
    await sandbox.close();
  });
  await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
  const { metadata, ...rest } = workload("web");
  const all = { ...metadata.annotations, ...annotations };
  await cluster.create("StatefulSet", { ...rest, metadata: { ...metadata, annotations: all } });
  const pod = async (name: string, method: "POST" | "DELETE") => {
    const { metadata } = (await cluster.get("StatefulSet", "web")) ?? {};
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: metadata?.uid, controller: true };
    const body = {
      metadata: { name, ownerReferences: [owner] },
      spec: { containers: [{ name: "main", image: "nginx" }], nodeName: "a" },
    };
    const path = "/api/v1/namespaces/default/pods";
    const request = method === "POST" ? { path, body } : { path: `${path}/${name}`, body: { gracePeriodSeconds: 0 } };
    await cluster.client.request({ method, ...request });
  };
  const reasons = () => cluster.events.map(({ reason }) => reason);
  await pod("web-0", "POST");
  const lists = () => sandbox.requests.filter(({ verb, resource }) => verb === "list" && resource === "pods").length;
  return { clock, cluster, pod, reasons, lists };
}

it("a workload that is recorded with older Pods is reported as unproven, until its Pods are newer", async () => {
  const { clock, cluster, pod, reasons } = await scene({ firstSight: "record" });
  await clock.advance(70_000);
  await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
  await cluster.list();
  await eventually(() => expect(reasons()).toEqual(["ConfigRecorded"]));
  await cluster.show("StatefulSet", "web");
  await eventually(() => expect(reasons()).toEqual(["ConfigRecorded", "ConfigUnproven"]));
  expect(cluster.events[1]?.message).toMatch(/changed at .+:10Z, and the oldest Pod was scheduled at .+:00Z/);
  expect(cluster.metrics.render()).toContain('wave_workloads{state="unproven"} 1\n');

  await clock.advance(20_000);
  await pod("web-0", "DELETE");
  await pod("web-0", "POST");
  await cluster.edit("StatefulSet", "web", { metadata: { labels: { any: "change" } } });
  await cluster.edit("StatefulSet", "web", { spec: { replicas: 2 } });
  await cluster.show("StatefulSet", "web");
  await eventually(() => expect(reasons()).toEqual(["ConfigRecorded", "ConfigUnproven", "ConfigRecorded"]));
  await cluster.show("StatefulSet", "web");
  await eventually(() => expect(cluster.metrics.render()).toContain('wave_workloads{state="current"} 1\n'));
});

it("a change that is held is recorded as soon as all Pods are newer, with one list for each change of the workload", async () => {
  const { clock, cluster, pod, reasons, lists } = await scene({ pacing: unpaced }, { "wave.pusher.com/hold": "true" });
  await cluster.list();
  await clock.advance(70_000);
  await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
  await cluster.show("ConfigMap", "web");
  await eventually(() => expect(reasons()).toContain("RolloutHeld"));
  await clock.advance(70_000);
  await pod("web-0", "DELETE");
  await pod("web-0", "POST");
  const before = lists();
  // Nothing shows that the Pods have changed, and the last list is not a minute old.
  await cluster.show("ConfigMap", "web");
  const ready = { replicas: 1, readyReplicas: 1, availableReplicas: 1, updatedReplicas: 1 };
  const status = { observedGeneration: 1, currentRevision: "a", updateRevision: "a", ...ready };
  await cluster.client.request({
    method: "PATCH",
    path: "/apis/apps/v1/namespaces/default/statefulsets/web/status",
    body: { status },
    contentType: "application/merge-patch+json",
  });
  await cluster.show("StatefulSet", "web");
  await eventually(() => expect(reasons()).toContain("ConfigRecorded"));
  expect(lists() - before).toBe(1);
  await cluster.show("StatefulSet", "web");
  await eventually(() => expect(cluster.metrics.render()).toContain('wave_workloads{state="current"} 1\n'));
});
