import { describe, expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { httpClient, TestCluster, workload } from "../../../test/support/fake-cluster.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { ControllerOptions } from "./controller.ts";

const settlesForASecond: Policy = {
  crossNamespace: "granted",
  namespaces: undefined,
  schedulingHold: true,
  pacing: { ...unpaced, settleMs: 1_000 },
};

/** A loud tenant with many workloads on one ConfigMap, a quiet one with one, all hashed, under a controller that leads. */
async function scene(many: number, options: Partial<ControllerOptions>) {
  const sandbox = await startSandbox({ controllers: false });
  const patched: string[] = [];
  let onPatch = (_path: string) => {};
  const byHand = httpClient(sandbox.url);
  const client: ApiClient = {
    ...byHand,
    request: async <T>(request: Parameters<ApiClient["request"]>[0]) => {
      const isBatches = request.contentType === "application/json-patch+json";
      if (isBatches) onPatch(request.path);
      const answer = await byHand.request<T>(request);
      if (isBatches) patched.push(request.path);
      return answer;
    },
  };
  const cluster = new TestCluster(sandbox.url, { ...options, client });
  const abort = new AbortController();
  for (const namespace of ["loud", "quiet"]) {
    const names = Array.from({ length: namespace === "loud" ? many : 1 }, (_, index) => `web-${index}`);
    await byHand.request({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
    await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } }, namespace);
    for (const name of names) await cluster.create("Deployment", workload(name), namespace);
  }
  await cluster.list();
  const done = cluster.controller.run({ stop: abort.signal, abort: abort.signal, valid: () => true });
  onTestFinished(async () => {
    abort.abort();
    await done;
    cluster.close();
    await sandbox.close();
  });
  const written = (count: number) => eventually(() => expect(patched.length).toBeGreaterThanOrEqual(count));
  for (let count = 0; count < many + 1; count++) {
    await cluster.clock.advance(1_000_000);
    await written(count + 1);
  }
  for (let index = 0; index < many; index++) await cluster.show("Deployment", `loud/web-${index}`);
  await cluster.show("Deployment", "quiet/web-0");
  patched.length = 0;
  const edit = async (namespace: string, a: string) => {
    await cluster.edit("ConfigMap", `${namespace}/web`, { data: { a } });
    await cluster.show("ConfigMap", `${namespace}/web`);
  };
  /** Waits until all started work has ended. */
  const settled = async () => {
    for (let turn = 0; turn < 3; turn++) await cluster.get("ConfigMap", "web");
  };
  const metric = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(cluster.metrics.render())?.[1]);
  const whenPatched = (listener: (path: string) => void) => {
    onPatch = listener;
  };
  return { cluster, sandbox, patched, edit, settled, metric, written, whenPatched };
}

const isQuiet = (path: string) => path.includes("/namespaces/quiet/");

describe("between tenants", () => {
  it("write permits rotate between tenants: a tenant with flapping workloads costs another tenant one permit", async () => {
    const { cluster, patched, edit, settled } = await scene(30, { updateRate: 10, updateBurst: 1 });
    await edit("loud", "2");
    await edit("quiet", "2");
    for (let flips = 0; flips < 10 && !patched.some(isQuiet); flips++) {
      await edit("loud", `${flips % 2}`);
      await cluster.clock.advance(50);
      await settled();
    }
    // The burst, and one turn each in the second half of the time that two turns take.
    expect(patched.map(isQuiet)).toEqual(patched.length === 2 ? [false, true] : [false, false, true]);
  });

  it("hanging writes in one namespace leave workers for other namespaces", async () => {
    const { sandbox, edit, written, patched } = await scene(10, { workers: 5 });
    const isLoud = ({ method, path }: { method: string; path: string }) =>
      method === "PATCH" && path.includes("/namespaces/loud/deployments/");
    sandbox.faults.add({ match: isLoud, action: { type: "blackHole" } });
    await edit("loud", "2");
    await edit("quiet", "2");
    await written(1);
    expect(patched).toEqual([expect.stringContaining("/namespaces/quiet/")]);
  });

  it("a reverted edit immediately removes waiting workloads from the queue of permits", async () => {
    const { cluster, patched, edit, settled, metric, written } = await scene(20, { updateRate: 1, updateBurst: 1 });
    await edit("loud", "bad");
    await written(1);
    await edit("quiet", "2");
    await settled();
    expect(metric("wave_write_permits_waiting")).toBe(20);
    await edit("loud", "1");
    await settled();
    // The one that was written with the bad edit has something to write again.
    expect(metric("wave_write_permits_waiting")).toBe(2);
    await cluster.clock.advance(2_000);
    await written(3);
    await settled();
    expect([patched.filter(isQuiet).length, patched.length, metric("wave_write_permits_waiting")]).toEqual([1, 3, 0]);
  });

  it("plans rotate between tenants: a thousand queued workloads delay another tenant by a handful of plans", async () => {
    const { cluster, edit, metric, whenPatched, written } = await scene(1, { workers: 4, policy: settlesForASecond });
    const left: number[] = [];
    whenPatched(() => left.push(metric("wave_queue_depth")));
    await edit("quiet", "2"); // settles for a second
    flood(cluster, "loud");
    await cluster.clock.advance(1_000);
    await written(1);
    expect(left).toEqual([expect.any(Number)]);
    expect(left[0]).toBeGreaterThan(900);
  });

  it("the holder of a write permit is planned before all other workloads, so that no permit stays unused", async () => {
    const { cluster, edit, metric, whenPatched, written } = await scene(2, {
      workers: 4,
      updateRate: 1,
      updateBurst: 1,
    });
    await edit("loud", "2");
    await written(1);
    const left: number[] = [];
    whenPatched(() => left.push(metric("wave_queue_depth")));
    flood(cluster, "loud");
    await cluster.clock.advance(1_000);
    await written(2);
    expect(left).toEqual([expect.any(Number)]);
    expect(left[0]).toBeGreaterThan(900);
  });
});

/** Queues a thousand workloads of a namespace. */
function flood({ controller }: TestCluster, namespace: string): void {
  for (let index = 0; index < 1_000; index++) {
    const key = `Deployment/${namespace}/flaps-${index}`;
    controller.onWorkloadChange({ key, before: undefined, after: undefined, initial: false });
  }
}
