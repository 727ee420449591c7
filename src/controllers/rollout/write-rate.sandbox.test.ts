import { expect, it, onTestFinished } from "vitest";
import { startApiServer } from "../../../sandbox/requests/api-server.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { TestCluster, workload } from "../../../test/support/fake-cluster.ts";
import { plainPolicy } from "../../../test/support/leading-cluster.ts";
import { memoryClient } from "../../../test/support/memory-client.ts";
import { toConfig } from "../../domain/config/digest.ts";
import { copyName, wholeContent } from "../../domain/pinning/pinned-lookup.ts";
import { resourcePath, resources } from "../../kube/api/resources.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";

const names = Array.from({ length: 8 }, (_, index) => `${index}`);

/** Returns a Pod of StatefulSet "db" that is pending, as if the scheduling hold of "db" was just removed. */
function pendingPod(index: string, uid: string) {
  const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid, controller: true };
  return {
    metadata: { name: `db-${index}`, namespace: "default", ownerReferences: [owner] },
    spec: { schedulerName: "wave.pusher.com/invalid", containers: [{ name: "db", image: "db" }] },
  };
}

/** Returns a pinned copy that nothing uses. */
function unusedCopy(index: string) {
  const data = { index };
  const content = wholeContent(toConfig("ConfigMap", { metadata: { name: "old", namespace: "default" }, data }));
  const labels = { "wave.pusher.com/pinned-copy": "true" };
  return { metadata: { name: copyName("old", content, 10), labels }, immutable: true, data };
}

it("writes of all controllers together stay within --update-rate, and none of them stops", async () => {
  const clock = new FakeClock();
  const server = startApiServer({ controllers: false, clock });
  const direct = memoryClient(server);
  const writes: { readonly at: number; readonly what: string }[] = [];
  const client = memoryClient(server, async ({ method, path }) => {
    if (method === "GET") return;
    const what = `${method} ${path.split("/").at(-2)}`;
    writes.push({ at: clock.monotonic(), what });
  });
  const policy = { ...plainPolicy, ownership: "keep", pinConfig: true } as const;
  const options = { client, policy, webhooks: true, updateRate: 10, updateBurst: 1 };
  const cluster = new TestCluster("", options, clock);
  const { metadata } = await cluster.create("StatefulSet", { ...workload("db"), metadata: { name: "db" } });
  await direct.request({
    method: "PATCH",
    path: `${resourcePath(resources.statefulSets, { namespace: "default", name: "db" })}/status`,
    contentType: "application/merge-patch+json",
    body: { status: { observedGeneration: metadata.generation } },
  });
  const create = (body: object) =>
    direct.request({ method: "POST", path: resourcePath(resources.pods, { namespace: "default" }), body });
  for (const name of names) {
    await create(pendingPod(name, metadata.uid ?? ""));
    await cluster.create("ConfigMap", unusedCopy(name));
    await cluster.create("Deployment", workload(name));
  }
  await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
  await cluster.list();
  writes.length = 0;
  const start = clock.monotonic();
  const stop = new AbortController();
  const done = cluster.controller.run(soleLeadership(stop.signal));
  onTestFinished(async () => {
    stop.abort();
    await done;
    cluster.close();
  });
  await clock.advance(20_000);
  for (const [index, { at }] of writes.entries()) expect(index).toBeLessThanOrEqual((at - start) / 100);
  const count = (what: string) => writes.filter((write) => write.what === what).length;
  expect(count("DELETE pods")).toBe(8);
  // Hashes and finalizers; marks of copies and owners of the ConfigMap.
  expect(count("PATCH deployments")).toBeGreaterThanOrEqual(16);
  expect(count("PATCH configmaps")).toBeGreaterThanOrEqual(8);
});
