import { expect, it, onTestFinished } from "vitest";
import { startApiServer } from "../../../sandbox/requests/api-server.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { TestCluster, workload } from "../../../test/support/fake-cluster.ts";
import { memoryClient } from "../../../test/support/memory-client.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";

it("reports on a pending Pod what the last decision about its workload has, also when a part of it exists", async () => {
  const clock = new FakeClock();
  const client = memoryClient(startApiServer({ controllers: false, clock }));
  const cluster = new TestCluster("", { client, webhooks: true }, clock);
  const envFrom = ["one", "two"].map((name) => ({ configMapRef: { name } }));
  const held = { schedulerName: "wave.pusher.com/invalid", containers: [{ name: "db", image: "db", envFrom }] };
  const annotations = { "wave.pusher.com/scheduling-disabled": "default-scheduler" };
  const { metadata } = await cluster.create("StatefulSet", workload("db", held, annotations));
  const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: metadata.uid, controller: true };
  const pod = { metadata: { name: "db-0", ownerReferences: [owner] }, spec: held };
  const path = resourcePath(resources.pods, { namespace: "default" });
  await client.request({ method: "POST", path, body: pod });
  await cluster.list();
  const stop = new AbortController();
  const done = cluster.controller.run(soleLeadership(stop.signal));
  onTestFinished(async () => {
    stop.abort();
    await done;
    cluster.close();
  });
  const lastOfPod = () => cluster.events.findLast(({ regarding }) => regarding.kind === "Pod")?.message;
  const reported = (names: string) =>
    eventually(async () => {
      await clock.advance(1_500);
      expect(lastOfPod()).toBe(`Pod is pending. Waiting for ${names}. Create what is missing.`);
    });
  await reported('ConfigMap "one" and ConfigMap "two"');
  await cluster.create("ConfigMap", { metadata: { name: "one" } });
  await cluster.show("ConfigMap", "one");
  await reported('ConfigMap "two"');
});
