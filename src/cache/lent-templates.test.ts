import { afterEach, describe, expect, it } from "vitest";
import { ConnectionError } from "../kube/errors.ts";
import { FakeClock } from "../lib/fake-clock.ts";
import { readWantedKind, rowOf } from "../rollout/kinds/wanted-kind.ts";
import { silentLogger } from "../telemetry/log.ts";
import { MetricsRegistry } from "../telemetry/metrics.ts";
import { cachesOver } from "./cluster-cache.ts";
import { FakeWatch } from "./fake-watch.ts";
import { withLentTemplate } from "./lent-template.ts";

const id = "rollouts.argoproj.io";
const started: AbortController[] = [];
afterEach(() => {
  for (const controller of started.splice(0)) controller.abort();
});

/** Caches of Rollouts, and of Deployments that read one ConfigMap, each the one that `reads` says. */
async function start() {
  const fake = new FakeWatch();
  const clock = new FakeClock();
  const reads: Record<string, string | Error> = {};
  const asked: string[] = [];
  const client = {
    request: async <T>({ path }: { readonly path: string }): Promise<T> => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      asked.push(name);
      const read = reads[name];
      if (read instanceof Error) throw read;
      const containers = [{ name: "main", envFrom: [{ configMapRef: { name: read } }] }];
      return { metadata: { name, generation: 1 }, spec: { template: { spec: { containers } } } } as T;
    },
  };
  const caches = cachesOver(
    {
      watch: fake.watch,
      list: fake.list,
      find: async (kind) => rowOf(kind, { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" }),
      readTemplate: (row, object, signal) => withLentTemplate(client, row, object, { signal }),
    },
    {
      namespaces: undefined,
      workloadKinds: [readWantedKind(id)].filter((kind) => kind !== undefined),
      clock,
      log: silentLogger,
      metrics: new MetricsRegistry(),
      onWorkloadChange: () => {},
      onConfigChange: () => {},
      onNamespaceChange: () => {},
      random: () => 1,
    },
  );
  const controller = new AbortController();
  started.push(controller);
  void caches.run(controller.signal);
  await clock.advance(0);
  const readBy = (config: string) => [...caches.workloadsReading(`ConfigMap/ns/${config}`)];
  return { feed: fake.feed("rollouts"), clock, reads, asked, caches, readBy };
}

function rollout(name: string, knownGeneration = "1", optsIn = "true") {
  const annotations = {
    "wave.pusher.com/update-on-config-change": optsIn,
    "rollout.argoproj.io/workload-generation": knownGeneration,
  };
  const metadata = { name, namespace: "ns", uid: name, resourceVersion: knownGeneration, generation: 1, annotations };
  return { metadata, spec: { workloadRef: { apiVersion: "apps/v1", kind: "Deployment", name } } };
}

describe("a workload that borrows its pod template", () => {
  it("is held with what that reads, and with what it reads once its controller knows of another", async () => {
    const { feed, reads, asked, readBy } = await start();
    reads.a = "first";
    await feed.list(rollout("a"), rollout("out", "1", "false"));
    expect(readBy("first")).toEqual([`${id}/ns/a`]);
    await feed.push({ type: "apply", object: { ...rollout("a"), status: { phase: "Healthy" } } });
    expect(asked).toEqual(["a"]);
    reads.a = "second";
    await feed.push({ type: "apply", object: rollout("a", "2") });
    expect([readBy("first"), readBy("second")]).toEqual([[], [`${id}/ns/a`]]);
  });

  it("keeps what is held of it while that cannot be read, and is read again with pauses until it can", async () => {
    const { feed, clock, reads, asked, caches, readBy } = await start();
    [reads.a, reads.b] = ["first", "first"];
    await feed.list(rollout("a"));
    reads.a = new ConnectionError("it broke");
    const taken = feed.push({ type: "apply", object: rollout("a", "2") }, { type: "apply", object: rollout("b", "3") });
    await clock.advance(60_000);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.length).toBeLessThan(12);
    expect(readBy("first")).toEqual([`${id}/ns/a`]);
    expect(caches.workload(`${id}/ns/b`)).toBeUndefined();
    reads.a = "second";
    await clock.advance(60_000);
    await taken;
    expect([readBy("first"), readBy("second")]).toEqual([[`${id}/ns/b`], [`${id}/ns/a`]]);
  });
});
