import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeWatch } from "../../../test/support/fake-watch.ts";
import { parseRequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import { ApiError, ConnectionError } from "../../kube/api/api-failure.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { cachesOver } from "../cluster-cache.ts";
import { readWithBorrowedTemplate } from "./workload-reads.ts";

const id = "rollouts.argoproj.io";
const started: AbortController[] = [];
afterEach(() => {
  for (const controller of started.splice(0)) controller.abort();
});

/** Caches of Rollouts, and of Deployments that read one ConfigMap each, as `reads` defines. */
async function start() {
  const fake = new FakeWatch();
  const clock = new FakeClock();
  const reads: Record<string, string | Error> = {};
  const waits: Record<string, Promise<void>> = {};
  const asked: string[] = [];
  const stored: Record<string, Rollout> = {};
  const client = {
    request: async <T>({ path }: { readonly path: string }): Promise<T> => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      if (path.includes("/rollouts/")) {
        const found = stored[name];
        if (found === undefined)
          throw new ApiError({
            request: path,
            status: 404,
            reason: "NotFound",
            serverMessage: "",
            retryAfterMs: undefined,
          });
        return structuredClone(found) as T;
      }
      asked.push(name);
      await waits[name];
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
      find: async (kind) => requestedKindRow(kind, { apiVersion: "argoproj.io/v1alpha1", kind: "Rollout" }),
      readTemplate: (row, name, signal) => readWithBorrowedTemplate(client, row, name, { signal }),
    },
    {
      namespaces: undefined,
      workloadKinds: [parseRequestedKind(id)].filter((kind) => kind !== undefined),
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
  const feed = fake.feed("rollouts");
  /** Stores Rollouts and delivers their events. */
  const apply = async (...objects: Rollout[]) => {
    for (const object of objects) stored[object.metadata.name] = object;
    await feed.push(...objects.map((object) => ({ type: "apply" as const, object })));
  };
  const list = async (...objects: Rollout[]) => {
    for (const object of objects) stored[object.metadata.name] = object;
    await feed.list(...objects);
  };
  return { feed, apply, list, clock, reads, waits, asked, stored, caches, readBy };
}

interface Rollout {
  readonly metadata: { readonly name: string };
  readonly spec: object;
  readonly status?: object;
}

const withItsOwn = { template: { spec: { containers: [] } } };

function rollout(name: string, knownGeneration = "1", optsIn = "true", namespace = "ns", ownSpec?: object): Rollout {
  const annotations = {
    "wave.pusher.com/update-on-config-change": optsIn,
    "rollout.argoproj.io/workload-generation": knownGeneration,
  };
  const metadata = { name, namespace, uid: name, resourceVersion: knownGeneration, generation: 1, annotations };
  return { metadata, spec: ownSpec ?? { workloadRef: { apiVersion: "apps/v1", kind: "Deployment", name } } };
}

const soon = 1_000;

describe("a workload with a workloadRef", () => {
  it("is cached as being deleted also if its template cannot be read, so that its finalizer is removed", async () => {
    const { list, apply, clock, reads, asked, caches } = await start();
    reads.a = "first";
    await list(rollout("a"));
    await clock.advance(soon);
    expect(caches.workload(`${id}/ns/a`)).toMatchObject({ deleting: false });
    reads.a = new ConnectionError("it broke");
    const { metadata, spec } = rollout("a");
    const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["wave.pusher.com/finalizer"] };
    await apply({ metadata: { ...metadata, ...deleted }, spec });
    expect(caches.workload(`${id}/ns/a`)).toMatchObject({ deleting: true, oldFinalizer: true });
    await clock.advance(soon);
    expect(asked).toEqual(["a"]);
  });

  it("is cached with the references of its template source, and with those of another one once its controller has observed it", async () => {
    const { list, apply, clock, reads, asked, readBy } = await start();
    reads.a = "first";
    await list(rollout("a"), rollout("out", "1", "false"));
    await clock.advance(soon);
    expect(readBy("first")).toEqual([`${id}/ns/a`]);
    await apply({ ...rollout("a"), status: { phase: "Healthy" } });
    await clock.advance(soon);
    expect(asked).toEqual(["a"]);
    reads.a = "second";
    await apply(rollout("a", "2"));
    await clock.advance(soon);
    expect([readBy("first"), readBy("second")]).toEqual([[], [`${id}/ns/a`]]);
  });

  it("stays cached while its template source cannot be read, and reads are retried with pauses until one succeeds", async () => {
    const { list, apply, clock, reads, asked, readBy } = await start();
    reads.a = "first";
    await list(rollout("a"));
    await clock.advance(soon);
    reads.a = new ConnectionError("it broke");
    await apply(rollout("a", "2"));
    await clock.advance(60_000);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.length).toBeLessThan(12);
    expect(readBy("first")).toEqual([`${id}/ns/a`]);
    reads.a = "second";
    await clock.advance(60_000);
    expect([readBy("first"), readBy("second")]).toEqual([[], [`${id}/ns/a`]]);
  });

  it("delays no other workload of its kind while its template cannot be read", async () => {
    const { list, apply, clock, reads, caches } = await start();
    [reads.a, reads.b] = [new ConnectionError("it broke"), "first"];
    await list(rollout("a"));
    await clock.advance(60_000);
    await apply(rollout("b", "1", "true", "other"), rollout("own", "1", "true", "other", withItsOwn));
    expect(caches.workload(`${id}/other/own`)).toBeDefined();
    await clock.advance(soon);
    expect(caches.workload(`${id}/other/b`)).toBeDefined();
    expect(caches.workload(`${id}/ns/a`)).toBeUndefined();
  });

  it("is read by at most two workers for a namespace while reads fail", async () => {
    const { list, clock, reads, asked } = await start();
    const names = Array.from({ length: 1_000 }, (_, i) => `r${i}`);
    for (const name of names) reads[name] = new ConnectionError("it broke");
    await list(...names.map((name) => rollout(name)));
    await clock.advance(120_000);
    expect(asked.length).toBeLessThan(40);
    for (const name of names) reads[name] = "first";
    // The workers give way to I/O after each key, which the clock does not wait for.
    await eventually(async () => {
      await clock.advance(60_000);
      expect(new Set(asked).size).toBe(1_000);
    });
  });

  it("is read four times a second if it changes all the time, and is still cached", async () => {
    const { list, apply, clock, reads, asked, caches } = await start();
    reads.a = "first";
    await list();
    for (let i = 1; i <= 1_000; i++) {
      await apply(rollout("a", `${i}`));
      await clock.advance(10);
    }
    expect(caches.workload(`${id}/ns/a`)).toBeDefined();
    expect(asked.length).toBeLessThanOrEqual(41);
  });

  it("is forgotten when it is deleted, also during the read", async () => {
    const { feed, list, clock, reads, waits, caches } = await start();
    const slow = Promise.withResolvers<void>();
    reads.a = "first";
    waits.a = slow.promise;
    await list(rollout("a"));
    await clock.advance(soon);
    await feed.push({ type: "delete", object: rollout("a") });
    slow.resolve();
    await clock.advance(soon);
    expect(caches.workload(`${id}/ns/a`)).toBeUndefined();
  });

  it("is forgotten once a list does not contain it", async () => {
    const { list, clock, reads, caches, stored } = await start();
    reads.a = new ConnectionError("it broke");
    await list(rollout("a"));
    await clock.advance(soon);
    delete stored.a;
    await list();
    reads.a = "first";
    await clock.advance(60_000);
    expect(caches.workload(`${id}/ns/a`)).toBeUndefined();
  });
});
