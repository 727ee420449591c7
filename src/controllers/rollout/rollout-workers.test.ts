import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { TestCluster } from "../../../test/support/fake-cluster.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { soleLeadership } from "../../runtime/write-permits.ts";

const count = 1_000;

/** A server with this many workloads without references, so that a plan needs no request. */
const readOnly: ApiClient = {
  async request<T>({ path }: ApiRequest): Promise<T> {
    const names = path.endsWith("/deployments") ? Array.from({ length: count }, (_, index) => `web-${index}`) : [];
    const items = names.map((name) => ({
      metadata: {
        namespace: "default",
        name,
        uid: name,
        resourceVersion: "1",
        generation: 1,
        annotations: { "wave.pusher.com/update-on-config-change": "true" },
      },
      spec: { selector: {}, template: { metadata: {}, spec: { containers: [] } } },
    }));
    return JSON.parse(JSON.stringify({ items }));
  },
  stream: () => Promise.reject(new Error("nothing is watched")),
  close: async () => {},
};

it("a leader that plans everything lets other work run in between", async () => {
  const cluster = new TestCluster("", { client: readOnly });
  await cluster.list();
  const stop = new AbortController();
  const done = cluster.controller.run(soleLeadership(stop.signal));
  const planned = () => Number(/wave_workloads\{state="current"\} (\d+)/.exec(cluster.metrics.render())?.[1]);
  const steps: number[] = [];
  for (let before = 0; before < count; before = planned()) {
    await setImmediate();
    steps.push(planned() - before);
  }
  expect(Math.max(...steps)).toBeLessThan(100);
  stop.abort();
  await done;
  cluster.close();
});
