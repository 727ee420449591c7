import { expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { defaultPolicy } from "../../../test/support/domain/objects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { TestCluster, workload } from "../../../test/support/fake-cluster.ts";

it("a workload that is recorded with older Pods is reported as unproven, until its Pods are newer", async () => {
  const clock = new FakeClock();
  const sandbox = await startSandbox({ controllers: false, clock });
  const cluster = new TestCluster(sandbox.url, { policy: { ...defaultPolicy, firstSight: "record" } }, clock);
  const stop = new AbortController();
  const running = cluster.controller.run({ stop: stop.signal, abort: stop.signal, valid: () => true });
  onTestFinished(async () => {
    stop.abort();
    await running;
    cluster.close();
    await sandbox.close();
  });
  await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
  await cluster.create("StatefulSet", workload("web"));
  const pod = async (name: string, method: "POST" | "DELETE") => {
    const { metadata } = (await cluster.get("StatefulSet", "web")) ?? {};
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: metadata?.uid, controller: true };
    const body = {
      metadata: { name, ownerReferences: [owner] },
      spec: { containers: [{ name: "main", image: "nginx" }], nodeName: "a" },
    };
    const path = "/api/v1/namespaces/default/pods";
    await cluster.client.request({ method, path: method === "POST" ? path : `${path}/${name}`, body } as never);
  };
  await pod("web-0", "POST");
  await clock.advance(70_000);
  await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
  await cluster.list();
  const reasons = () => cluster.events.map(({ reason }) => reason);
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
