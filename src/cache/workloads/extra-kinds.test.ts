import { afterEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeWatch } from "../../../test/support/fake-watch.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { parseRequestedKind, requestedKindRow } from "../../domain/model/kinds/requested-kind.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { ApiError, ConnectionError } from "../../kube/api/api-failure.ts";
import type { Logger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { cachesOver } from "../cluster-cache.ts";
import type { StoreChange } from "../store/store.ts";

const minute = 60_000;
const id = "widgets.example.com";
const started: AbortController[] = [];
afterEach(() => {
  for (const controller of started.splice(0)) controller.abort();
});

/** Caches for which the test defines the served APIs. */
function start(first?: string | Error, namespaces?: readonly string[]) {
  const fake = new FakeWatch();
  const clock = new FakeClock();
  const lines: string[] = [];
  const at = (level: string) => (message: string) => lines.push(`${level}: ${message}`);
  const log: Logger = { debug: () => {}, info: at("info"), warn: at("warn"), error: at("error") };
  const changes: StoreChange<Workload>[] = [];
  const listed: string[] = [];
  const wanted = [parseRequestedKind(id)].filter((kind) => kind !== undefined);
  /** The served version, an error, or undefined. */
  const served: { now: string | Error | undefined; asked: number } = { now: first, asked: 0 };
  const caches = cachesOver(
    {
      watch: fake.watch,
      list: fake.list,
      find: async (kind) => {
        served.asked++;
        if (served.now instanceof Error) throw served.now;
        if (served.now === undefined) return undefined;
        return requestedKindRow(kind, { apiVersion: `example.com/${served.now}`, kind: "Widget" });
      },
    },
    {
      namespaces,
      workloadKinds: wanted,
      clock,
      log,
      metrics: new MetricsRegistry(),
      onWorkloadChange: (change) => changes.push(change),
      onConfigChange: () => {},
      onNamespaceChange: () => {},
      onListed: (kind, namespace) => listed.push(`${kind}/${namespace}`),
      random: () => 1,
    },
  );
  const controller = new AbortController();
  started.push(controller);
  const running = caches.run(controller.signal);
  return { fake, clock, lines, changes, listed, served, caches, controller, running };
}

function widget(name: string) {
  const annotations = { "wave.pusher.com/update-on-config-change": "true" };
  const metadata = { name, namespace: "ns", uid: name, resourceVersion: "1", generation: 1, annotations };
  const containers = [{ name: "main", envFrom: [{ configMapRef: { name: "page" } }] }];
  return { metadata, spec: { template: { spec: { containers } } } };
}

describe("a requested kind of workload", () => {
  it("is cached as soon as its API exists, and no longer when the API is removed", async () => {
    const { fake, clock, lines, changes, listed, served, caches } = start();
    for (const kind of ["configmaps", "secrets", "deployments", "statefulsets", "daemonsets"])
      await fake.feed(kind).list();
    expect(caches.synced).toBe(true);
    expect(caches.kinds()).toEqual(builtInKinds);
    await clock.advance(10 * minute);
    expect(lines.filter((line) => line.includes("is not available"))).toHaveLength(1);

    served.now = "v1";
    await clock.advance(minute);
    await fake.feed("widgets").list(widget("a"));
    expect(listed).toContain(`${id}/`);
    expect(caches.kinds().at(-1)).toMatchObject({ id, kind: "Widget", apiVersion: "example.com/v1" });
    expect([...caches.workloadsReading("ConfigMap/ns/page")]).toEqual([`${id}/ns/a`]);
    expect(caches.workload(`${id}/ns/a`)?.row.kind).toBe("Widget");

    served.now = undefined;
    await clock.advance(minute);
    expect(changes.at(-1)).toMatchObject({ key: `${id}/ns/a`, after: undefined });
    expect([...caches.workloadsReading("ConfigMap/ns/page")]).toEqual([]);
    expect(caches.workload(`${id}/ns/a`)).toBeUndefined();
    expect(caches.kinds()).toEqual(builtInKinds);
    await clock.advance(10 * minute);
    expect(fake.watched.filter(({ resource }) => resource.plural === "widgets")).toHaveLength(1);
    expect(lines.filter((line) => !line.startsWith("info"))).toEqual([]);
  });

  it("drops an object whose pod template is no longer valid, and no other object", async () => {
    const { fake, clock, lines, changes, caches } = start("v1");
    await clock.advance(0);
    const feed = fake.feed("widgets");
    const { metadata } = widget("a");
    await feed.list(widget("a"), widget("b"), { metadata: { ...metadata, name: "never", annotations: {} } });
    await feed.push({ type: "apply", object: { metadata: { ...metadata, generation: 2 } } });
    expect(changes.at(-1)).toMatchObject({ key: `${id}/ns/a`, after: undefined });
    expect(caches.workload(`${id}/ns/b`)).toBeDefined();
    expect(lines.filter((line) => line.startsWith("warn"))).toEqual(["warn: ignored a malformed workload"]);
    await feed.push({ type: "apply", object: widget("a") });
    expect(caches.workload(`${id}/ns/a`)).toBeDefined();
  });

  it("stays while the API server does not respond to the check, which is logged once", async () => {
    const { fake, clock, lines, served, caches } = start("v1");
    await clock.advance(0);
    await fake.feed("widgets").list(widget("a"));
    served.now = new ConnectionError("it broke");
    await clock.advance(10 * minute);
    expect(caches.kinds()).toHaveLength(builtInKinds.length + 1);
    expect(lines.filter((line) => line.startsWith("warn"))).toEqual([
      "warn: cannot check whether the API server serves a kind of workload; retrying",
    ]);
    expect(served.asked).toBeLessThan(30);
  });

  it("is not requested earlier than the API server allows", async () => {
    const failure = {
      request: "get",
      status: 429,
      reason: "TooManyRequests",
      serverMessage: "",
      retryAfterMs: 240_000,
    };
    const { clock, served } = start(new ApiError(failure));
    await clock.advance(0);
    const { asked } = served;
    await clock.advance(3 * minute);
    expect(served.asked).toBe(asked);
  });

  it("is watched in the version that is served now", async () => {
    const { fake, clock, served, caches } = start("v1beta1");
    await clock.advance(0);
    await fake.feed("widgets").list(widget("a"));
    served.now = "v1";
    await clock.advance(minute);
    await fake.feed("widgets").list(widget("a"));
    expect(caches.workload(`${id}/ns/a`)?.row.apiVersion).toBe("example.com/v1");
  });

  it("blocks no other kind if it cannot be listed, and reports this", async () => {
    const { fake, clock, caches } = start("v1", ["ns"]);
    await clock.advance(0);
    await fake.feed("widgets/ns").push({ type: "initFailed", reason: "cannot watch widgets in ns: allow it" });
    for (const kind of ["configmaps", "secrets", "deployments", "statefulsets", "daemonsets"])
      await fake.feed(`${kind}/ns`).list();
    expect(caches.synced).toBe(true);
    expect(caches.notes()).toEqual(["cannot watch widgets in ns: allow it"]);
    await fake.feed("widgets/ns").list(widget("a"));
    expect(caches.notes()).toEqual([]);
  });

  it("ends with the caches, and makes them fail if it finds a bug", async () => {
    const { controller, running, clock } = start("v1");
    await clock.advance(0);
    controller.abort();
    await running;
    await expect(start(new TypeError("a bug")).running).rejects.toThrow("a bug");
  });
});
