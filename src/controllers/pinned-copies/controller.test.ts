import { describe, expect, it, onTestFinished } from "vitest";
import { resources as sandboxResources } from "../../../sandbox/objects/resources.ts";
import { startApiServer } from "../../../sandbox/requests/api-server.ts";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { memoryClient } from "../../../test/support/memory-client.ts";
import { toConfig } from "../../domain/config/digest.ts";
import { builtInKinds, kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import { unusedMs } from "../../domain/pinning/collect.ts";
import { copyContent, copyName } from "../../domain/pinning/pinned-lookup.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import { type KubeObject, type Resource, resourcePath, resources } from "../../kube/api/resources.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import { TokenBucket } from "../../runtime/token-bucket.ts";
import { soleLeadership, WritePermits } from "../../runtime/write-permits.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { logMessages } from "../../telemetry/logging/log-messages.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { CopyCollector, collectorTimes, copyMetrics } from "./controller.ts";

const hour = unusedMs;
const containers = [{ name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "page" } }] }];
const page = (value: string) => ({ metadata: { name: "page" }, data: { a: value } });

/** Returns the name of the copy of `page` with this value. */
function copyOf(value: string): string {
  const config = toConfig("ConfigMap", { metadata: { namespace: "default", name: "page" }, data: { a: value } });
  const { references } = toWorkload(kinds.Deployment, deployment("web", value) as never);
  return copyName("page", copyContent(references, config), 10);
}

function deployment(name: string, value: string | undefined, spec: object = {}) {
  const annotations = value === undefined ? {} : { "wave.pusher.com/pinned": `page=page-${value}` };
  const labels = { app: name };
  return {
    metadata: { name, namespace: "default", annotations: { "wave.pusher.com/update-on-config-change": "true" } },
    spec: {
      serviceName: "",
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers } },
      ...spec,
    },
  };
}

/** A leading collector, and an API server without controllers. `refuses` selects the requests that RBAC forbids. */
async function scene(refuses: (request: ApiRequest) => boolean = () => false) {
  const clock = new FakeClock();
  const server = startApiServer({ controllers: false, clock });
  const direct = memoryClient(server);
  const sent: ApiRequest[] = [];
  const warnings: string[] = [];
  const events: ObjectEvent[] = [];
  const state = { valid: true, workload: undefined as ReturnType<typeof toWorkload> | undefined };
  const client = memoryClient(server, async (request) => {
    sent.push(request);
    if (refuses(request)) throw new ApiError({ request: "", status: 403, reason: "Forbidden", serverMessage: "" });
  });
  const metrics = new MetricsRegistry();
  const stop = new AbortController();
  const tokens = new TokenBucket({ clock, perSecond: 20, burst: 100 });
  const leadership = { ...soleLeadership(stop.signal), valid: () => state.valid };
  const collector = new CopyCollector({
    client,
    caches: { workload: () => state.workload, kinds: () => builtInKinds },
    policy: {
      crossNamespace: "granted",
      namespaces: undefined,
      schedulingHold: false,
      pacing: unpaced,
      pinConfig: true,
    },
    post: (event) => void events.push(event),
    clock,
    log: { ...silentLogger, warn: (message) => warnings.push(message) },
    random: () => 0,
    writes: copyMetrics(metrics, () => collector.counts),
    times: collectorTimes,
    leadership,
    permits: new WritePermits({ clock, tokens, leadership }),
  });
  const done = collector.run();
  onTestFinished(async () => {
    stop.abort();
    await done;
  });
  const create = (resource: Resource, body: object) =>
    direct.request({ method: "POST", path: resourcePath(resource, { namespace: "default" }), body });
  const setStatus = (resource: Resource, name: string, status: object) =>
    direct.request({
      method: "PATCH",
      path: `${resourcePath(resource, { namespace: "default", name })}/status`,
      contentType: "application/merge-patch+json",
      body: { status },
    });
  const copy = (value: string, metadata: object = {}, name = `page-${value}`) =>
    create(resources.configMaps, {
      metadata: { name, labels: { "wave.pusher.com/pinned-copy": "true" }, ...metadata },
      immutable: true,
      data: { a: contents.get(value) ?? value },
    });
  const stored = () =>
    server.registry.storage
      .list(sandboxResources.configMaps, "default")
      .filter(({ metadata }) => metadata.labels !== undefined)
      .map(({ metadata }) => ({ name: metadata.name, unused: metadata.annotations?.["wave.pusher.com/unused-since"] }));
  const writes = () => sent.filter(({ method }) => method !== "GET").map(({ method }) => method);
  await clock.advance(1_000);
  return {
    clock,
    server,
    create,
    copy,
    setStatus,
    stored,
    writes,
    sent,
    warnings,
    events,
    state,
    metrics,
    collector,
  };
}

/** The contents of copies by the digits of their names. */
const contents = new Map<string, string>();

/** Returns the digits of the name of a copy with this content. */
function digitsOf(content: string): string {
  const digits = copyOf(content).slice("page-".length);
  contents.set(digits, content);
  return digits;
}

const a = digitsOf("a");

describe("an object that only has the label of a pinned copy", () => {
  it.each([
    ["is not immutable", { immutable: false }, `page-${a}`],
    ["has another name than its content", { immutable: true }, "page-0123456789"],
  ])("is not deleted if it %s", async (_why, more, name) => {
    const { clock, create, writes } = await scene();
    const metadata = { name, labels: { "wave.pusher.com/pinned-copy": "true" } };
    await create(resources.configMaps, { metadata, data: { a: "a" }, ...more });
    await clock.advance(3 * hour);
    expect(writes()).toEqual([]);
  });
});

describe("a pinned copy that nothing uses", () => {
  it("is marked, and deleted an hour later", async () => {
    const { clock, copy, stored, writes } = await scene();
    await copy(a);
    await clock.advance(collectorTimes.sweepMs);
    expect(stored()).toEqual([{ name: `page-${a}`, unused: "2026-01-01T00:10:00Z" }]);
    await clock.advance(hour - 2_000);
    expect(stored()).toHaveLength(1);
    await clock.advance(collectorTimes.sweepMs);
    expect(stored()).toEqual([]);
    expect(writes()).toEqual(["PATCH", "DELETE"]);
  });

  it("stays for some time if the wall clock jumps, because the mark may be new", async () => {
    const { clock, copy, stored } = await scene();
    await copy(a);
    await clock.advance(collectorTimes.sweepMs);
    clock.jumpWall(2 * hour);
    await clock.advance(collectorTimes.seenMs);
    expect(stored()).toHaveLength(1);
    await clock.advance(2 * collectorTimes.sweepMs);
    expect(stored()).toEqual([]);
  });

  it("is left alone by a process that may no longer write", async () => {
    const { clock, copy, stored, state } = await scene();
    state.valid = false;
    await copy(a);
    await clock.advance(2 * collectorTimes.sweepMs);
    expect(stored()).toEqual([{ name: `page-${a}`, unused: undefined }]);
  });

  it.each(["pods", "replicasets", "deployments", "controllerrevisions"])(
    "is not deleted if Wave cannot list %s, with a warning",
    async (plural) => {
      const { clock, copy, stored, warnings } = await scene(({ path }) => path.endsWith(`/${plural}`));
      await copy(a);
      await clock.advance(2 * hour);
      expect(stored()).toEqual([{ name: `page-${a}`, unused: undefined }]);
      expect(warnings).toContain(logMessages.copiesNotSwept);
    },
  );

  it("is swept some time after a rollout, not only in the next period", async () => {
    const { clock, copy, stored, collector } = await scene();
    await copy(a);
    const workload = toWorkload(kinds.Deployment, deployment("web", a) as never);
    const change = { key: "", before: workload, after: { ...workload, pinned: undefined }, initial: false };
    collector.onWorkloadChange(change);
    await clock.advance(collectorTimes.afterRolloutMs);
    expect(stored()).toMatchObject([{ unused: "2026-01-01T00:02:01Z" }]);
  });
});

type Create = Awaited<ReturnType<typeof scene>>["create"];

const template = (value: string) => deployment("web", value).spec.template;

/** Creates a StatefulSet without pins, and returns the reference of its revisions to it. */
async function statefulSet(create: Create): Promise<object> {
  const { metadata } = (await create(resources.statefulSets, deployment("web", undefined))) as KubeObject;
  return { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: metadata.uid, controller: true };
}

describe("a pinned copy is kept, and loses its mark, if it is used by", () => {
  it.each<[string, (create: Create) => Promise<unknown>]>([
    ["the template of a workload", (create) => create(resources.deployments, deployment("web", a))],
    [
      "the template of a workload without replicas that has opted out",
      (create) => {
        const { spec } = deployment("web", a, { replicas: 0 });
        return create(resources.deployments, { metadata: { name: "web" }, spec });
      },
    ],
    [
      "an old ReplicaSet, also of a deleted Deployment",
      (create) => {
        const { selector } = deployment("web", a).spec;
        const spec = { replicas: 0, selector, template: template(a) };
        return create(resources.replicaSets, { metadata: { name: "web-1" }, spec });
      },
    ],
    [
      "a ControllerRevision",
      async (create) => {
        const metadata = { name: "web-1", ownerReferences: [await statefulSet(create)] };
        return create(resources.controllerRevisions, {
          metadata,
          revision: 1,
          data: { spec: { template: template(a) } },
        });
      },
    ],
    [
      "a Pod, by its spec",
      (create) => {
        const volumes = [{ name: "v", configMap: { name: `page-${a}` } }];
        return create(resources.pods, { metadata: { name: "web" }, spec: { containers, volumes } });
      },
    ],
  ])("%s", async (_what, use) => {
    const { clock, create, copy, stored } = await scene();
    const annotations = { "wave.pusher.com/unused-since": "2025-12-01T00:00:00Z" };
    await copy(a, { annotations });
    await use(create);
    await clock.advance(3 * hour);
    expect(stored()).toEqual([{ name: `page-${a}`, unused: undefined }]);
  });
});

it("a copy whose write is refused keeps no other copy from being marked and deleted", async () => {
  const [first, second] = [a, digitsOf("b")].toSorted();
  const { clock, copy, stored, warnings } = await scene(({ path, method }) => {
    return method === "PATCH" && path.endsWith(`page-${first}`);
  });
  await copy(first as string);
  await copy(second as string);
  await clock.advance(3 * hour);
  expect(stored()).toEqual([{ name: `page-${first}`, unused: undefined }]);
  expect(new Set(warnings)).toEqual(new Set([logMessages.copyNotWritten]));
});

it("a copy is not kept for a Pod whose annotation names it, but whose spec does not", async () => {
  const { clock, create, copy, stored } = await scene();
  await copy(a);
  const annotations = { "wave.pusher.com/pinned": `page=page-${a}` };
  await create(resources.pods, { metadata: { name: "web", annotations }, spec: { containers } });
  await clock.advance(3 * hour);
  expect(stored()).toEqual([]);
});

describe("a copy that was deleted while a template names it", () => {
  it.each([
    ["is stored again if the ConfigMap still has its content", "1", [copyOf("1")], [], []],
    ["is not stored again with other content, with a Warning", "2", [], [logMessages.copyLost], ["PinnedCopyLost"]],
  ])("%s", async (_what, value, copies, logged, reasons) => {
    const { clock, create, stored, state, warnings, events, collector } = await scene();
    await create(resources.configMaps, page(value));
    const web = deployment("web", copyOf("1").slice("page-".length));
    const created = await create(resources.deployments, web);
    state.workload = toWorkload(kinds.Deployment, created as never);
    const before = {
      ...toConfig("ConfigMap", { metadata: { namespace: "default", name: copyOf("1") } }),
      isCopy: true,
    };
    collector.onConfigChange({ key: "", before: before as never, after: undefined, initial: false });
    await clock.advance(5_000);
    expect(stored().map(({ name }) => name)).toEqual(copies);
    expect(warnings).toEqual(logged);
    expect(events.map(({ reason }) => reason)).toEqual(reasons);
  });
});

it("the workload of an old revision gets a Warning when the revision loses copies because of the limit", async () => {
  const { clock, create, copy, stored, events, metrics } = await scene();
  const owner = await statefulSet(create);
  const values: string[] = [];
  for (let i = 0; i <= 150; i++) {
    const value = digitsOf(`${i}`);
    values.push(value);
    await copy(value);
    const metadata = { name: `web-${i}`, ownerReferences: [owner] };
    const body = { metadata, revision: i + 1, data: { spec: { template: template(value) } } };
    await create(resources.controllerRevisions, body);
  }
  await clock.advance(collectorTimes.sweepMs);
  expect(stored().filter(({ unused }) => unused !== undefined)).toEqual([
    { name: `page-${values.toSorted()[0]}`, unused: expect.anything() },
  ]);
  expect(events).toMatchObject([
    { type: "Warning", reason: "PinnedCopiesOverLimit", regarding: { kind: "StatefulSet", name: "web" } },
  ]);
  expect(metrics.render()).toContain('wave_pinned_copies{use="old"} 151');
});
