import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { clientOf } from "../../../test/support/kube/client.ts";
import { type Logger, silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { ApiError } from "../api/api-failure.ts";
import type { KubeObject } from "../api/resources.ts";
import type { ApiClient } from "../http/client.ts";
import type { ObjectEvent } from "./event-object.ts";
import { createEventRecorder, type EventResult } from "./event-recorder.ts";

const events = "/api/v1/namespaces/default/events";

interface StoredEvent extends KubeObject {
  readonly message: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

/** A recorder that writes to a sandbox, whose clock it does not share. */
async function start(onRecorded?: (event: ObjectEvent, recorded: EventResult) => void) {
  const sandbox = await startSandbox({ controllers: false });
  const { client } = clientOf(sandbox.url);
  const clock = new FakeClock();
  const logged: string[] = [];
  const keep: Logger["warn"] = (message, fields) => void logged.push(JSON.stringify({ message, ...fields }));
  const log: Logger = { debug: keep, info: keep, warn: keep, error: keep };
  const metrics = new MetricsRegistry();
  const about = { client, clock, log, metrics, onRecorded };
  const recorder = createEventRecorder({ ...about, instance: "wave-0" });
  onTestFinished(async () => {
    await client.close();
    await sandbox.close();
  });
  /** The recorder of another replica, or of this one after a restart. */
  const another = () => createEventRecorder({ ...about, instance: "wave-1" });
  return { sandbox, client, clock, logged, metrics, recorder, another };
}

async function storedEvents(client: ApiClient): Promise<readonly StoredEvent[]> {
  return (await client.request<{ items: StoredEvent[] }>({ method: "GET", path: events })).items;
}

const regarding = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web", uid: "u-1" };
const changed: ObjectEvent = { regarding, type: "Normal", reason: "ConfigChanged", message: "ConfigMap web changed" };

describe("an Event", () => {
  it("has the object, the reason, the time and the reporter", async () => {
    const { client, recorder } = await start();
    await recorder.record(changed);
    expect(await storedEvents(client)).toMatchObject([
      {
        metadata: { namespace: "default", name: expect.stringMatching(/^web\.[0-9a-f]{16}$/) },
        involvedObject: regarding,
        type: "Normal",
        reason: "ConfigChanged",
        message: "ConfigMap web changed",
        source: { component: "wave" },
        reportingComponent: "wave",
        reportingInstance: "wave-0",
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
        count: 1,
      },
    ]);
  });

  it("that repeats raises the count and the last time of the existing Event with one request", async () => {
    const { sandbox, client, clock, recorder } = await start();
    await recorder.record(changed);
    await clock.advance(61_500);
    await recorder.record(changed);
    await recorder.record(changed);
    expect(await storedEvents(client)).toMatchObject([
      { count: 3, firstTimestamp: "2026-01-01T00:00:00Z", lastTimestamp: "2026-01-01T00:01:01Z" },
    ]);
    const verbs = sandbox.requests.filter(({ resource }) => resource === "events").map(({ verb }) => verb);
    expect(verbs).toEqual(["create", "patch", "patch", "list"]);
  });

  it("is reported with its result: first, counted on an existing Event, or failed", async () => {
    const handedOn: [string, EventResult][] = [];
    const { sandbox, client, recorder, another } = await start(({ message }, how) => handedOn.push([message, how]));
    await recorder.record(changed);
    await recorder.record(changed);
    await another().record(changed);
    const [first] = await storedEvents(client);
    await client.request({ method: "DELETE", path: `${events}/${first?.metadata.name}` });
    await recorder.record(changed);
    sandbox.faults.add({ match: ({ path }) => path === events, action: { type: "status", status: 403 } });
    await recorder.record({ ...changed, message: "refused" });
    await recorder.record({ ...changed, message: "not tried" });
    expect(handedOn).toEqual([
      ["ConfigMap web changed", "first"],
      ["ConfigMap web changed", "again"],
      ["ConfigMap web changed", "again"],
      ["ConfigMap web changed", "first"],
      ["refused", "failed"],
      ["not tried", "failed"],
    ]);
  });

  it("counts all occurrences that are recorded together", async () => {
    const { client, recorder, another } = await start();
    await recorder.record(changed, 3);
    await recorder.record(changed, 2);
    await another().record(changed, 4);
    expect((await storedEvents(client)).map(({ count }) => count)).toEqual([9]);
  });

  it("is a different Event if object, type, reason or message differ", async () => {
    const { client, recorder } = await start();
    const others: readonly ObjectEvent[] = [
      changed,
      { ...changed, regarding: { ...regarding, uid: "u-2" } },
      { ...changed, type: "Warning" },
      { ...changed, reason: "ConfigMissing" },
      { ...changed, message: "ConfigMap other changed" },
    ];
    for (const each of others) await recorder.record(each);
    expect((await storedEvents(client)).map(({ count }) => count)).toEqual([1, 1, 1, 1, 1]);
  });

  it("is found after a restart, and its count is raised", async () => {
    const { sandbox, client, clock, recorder, another } = await start();
    await recorder.record(changed);
    await recorder.record(changed);
    await clock.advance(60_000);
    const next = another();
    await next.record(changed);
    await next.record(changed);
    expect(await storedEvents(client)).toMatchObject([
      { count: 4, lastTimestamp: "2026-01-01T00:01:00Z", reportingInstance: "wave-0" },
    ]);
    const verbs = sandbox.requests.filter(({ resource }) => resource === "events").map(({ verb }) => verb);
    expect(verbs).toEqual(["create", "patch", "create", "patch", "patch", "patch", "list"]);
  });

  it("is written again if the first one has expired on the server", async () => {
    const { client, recorder } = await start();
    await recorder.record(changed);
    const [first] = await storedEvents(client);
    await client.request({ method: "DELETE", path: `${events}/${first?.metadata.name}` });
    await recorder.record(changed);
    await recorder.record(changed);
    const [second, ...more] = await storedEvents(client);
    expect(more).toEqual([]);
    expect(second?.count).toBe(2);
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
  });

  it("of an object without a namespace is kept in default", async () => {
    const { client, recorder } = await start();
    await recorder.record({ ...changed, regarding: { ...regarding, kind: "Node", namespace: "" } });
    const [event] = await storedEvents(client);
    expect(event).toMatchObject({ metadata: { namespace: "default" }, involvedObject: { kind: "Node" } });
    expect(event).not.toHaveProperty("involvedObject.namespace");
  });

  it("has a name that the API server accepts, even if the name of its object is long", async () => {
    const { client, logged, recorder } = await start();
    const endsInDots = `${"a".repeat(198)}.-b${"c".repeat(40)}`;
    await recorder.record({ ...changed, regarding: { ...regarding, name: endsInDots } });
    const [event] = await storedEvents(client);
    expect(logged).toEqual([]);
    expect(event?.metadata.name).toMatch(/^a{198}\.[0-9a-f]{16}$/);
  });

  it("that cannot be written is logged by the object's name and never thrown, and the next one is written", async () => {
    const { sandbox, client, logged, metrics, recorder } = await start();
    sandbox.faults.add({ match: ({ method }) => method === "POST", action: { type: "drop" }, times: 1 });
    await expect(recorder.record(changed)).resolves.toBeUndefined();
    expect(logged).toEqual([expect.stringContaining('"namespace":"default","name":"web"')]);
    await recorder.record(changed);
    expect((await storedEvents(client)).map(({ count }) => count)).toEqual([1]);
    expect(metrics.render()).toContain("wave_events_failed_total 1\n");
  });

  it.for([403, 404])(
    "is not attempted for 5 seconds in a namespace that answered %d, and is attempted in other namespaces",
    async (status) => {
      const { sandbox, client, clock, logged, metrics, recorder } = await start();
      const isCreate = ({ method, path }: { method: string; path: string }) => method === "POST" && path === events;
      const lift = sandbox.faults.add({ match: isCreate, action: { type: "status", status } });
      const tries = () =>
        sandbox.requests.filter(({ verb, namespace }) => verb === "create" && namespace === "default");
      for (let id = 0; id < 100; id++)
        await recorder.record({ ...changed, regarding: { ...regarding, uid: `u-${id}` } });
      expect(tries()).toHaveLength(1);
      expect(logged).toEqual([expect.stringContaining(`create events in default: ${status}`)]);
      expect(metrics.render()).toContain("wave_events_failed_total 100\n");
      await recorder.record({ ...changed, regarding: { ...regarding, namespace: "kube-system" } });
      lift();
      await clock.advance(4_999);
      await recorder.record(changed);
      expect(await storedEvents(client)).toEqual([]);
      await clock.advance(1);
      await recorder.record(changed);
      expect((await storedEvents(client)).map(({ count }) => count)).toEqual([1]);
    },
  );

  it("is logged as failed once a minute, with the number of other failures since then", async () => {
    const { sandbox, clock, logged, recorder } = await start();
    sandbox.faults.add({ match: ({ method }) => method === "POST", action: { type: "status", status: 500 } });
    for (let tries = 0; tries < 20; tries++) await recorder.record(changed);
    expect(logged).toHaveLength(1);
    await clock.advance(60_000);
    await recorder.record(changed);
    expect(logged).toHaveLength(2);
    expect(logged[1]).toContain('"others":19');
  });

  it("whose repetition fails is logged, and counted on the same Event the next time", async () => {
    const { sandbox, client, logged, recorder } = await start();
    await recorder.record(changed);
    sandbox.faults.add({ match: ({ method }) => method === "PATCH", action: { type: "drop" }, times: 1 });
    await recorder.record(changed);
    expect(logged).toHaveLength(1);
    await recorder.record(changed);
    expect((await storedEvents(client)).map(({ count }) => count)).toEqual([2]);
  });
});

describe("the message of an Event", () => {
  it("is at most 1,024 bytes, truncated between two characters, with a mark", async () => {
    const { client, recorder } = await start();
    const messages = ["x".repeat(1024), "x".repeat(1025), `${"x".repeat(1019)}€€€`, "🌊".repeat(300)];
    for (const message of messages) await recorder.record({ ...changed, message });
    const stored = new Map((await storedEvents(client)).map(({ message }) => [message.slice(-3), message]));
    expect([...stored.values()].every((message) => Buffer.byteLength(message) <= 1024)).toBe(true);
    expect([...stored.values()].map((message) => message.replaceAll(/x{9,}/g, "x").replaceAll(/🌊+/gu, "🌊"))).toEqual(
      expect.arrayContaining(["x", "x…", "🌊…"]),
    );
  });

  it("is always a prefix of the text", async () => {
    const { client, recorder } = await start();
    const character = fc.constantFrom("a", "é", "€", "🌊");
    const message = fc.string({ unit: character, minLength: 300, maxLength: 1100 });
    await fc.assert(
      fc.asyncProperty(message, fc.nat(), async (text, id) => {
        await recorder.record({ ...changed, regarding: { ...regarding, uid: `u-${id}` }, message: text });
        const [event] = (await storedEvents(client)).slice(-1);
        await client.request({ method: "DELETE", path: `${events}/${event?.metadata.name}` });
        const whole = Buffer.byteLength(text) <= 1024;
        const kept = event?.message ?? "";
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(1024);
        expect(kept.endsWith("…")).toBe(!whole);
        expect(text.startsWith(whole ? kept : kept.slice(0, -1))).toBe(true);
        expect(Buffer.byteLength(kept)).toBeGreaterThan(whole ? 0 : 1024 - 8);
      }),
      { numRuns: 60 },
    );
  });
});

describe("the memory of counts", () => {
  it("contains the last 2,000 Events; an earlier one costs two more requests", async () => {
    const sent: string[] = [];
    const stored = new Map<string, { count: number }>();
    async function request<T>({ method, path, body }: Parameters<ApiClient["request"]>[0]): Promise<T> {
      sent.push(method);
      const text = JSON.stringify(body);
      const name = method === "POST" ? `${path}/${JSON.parse(text).metadata.name}` : path;
      if (method === "POST" && stored.has(name)) {
        throw new ApiError({ request: "", status: 409, reason: "AlreadyExists", serverMessage: "" });
      }
      stored.set(name, { ...stored.get(name), ...JSON.parse(text) });
      return JSON.parse(JSON.stringify(stored.get(name)));
    }
    const recorder = createEventRecorder({
      client: { request },
      clock: new FakeClock(),
      log: silentLogger,
      metrics: new MetricsRegistry(),
      instance: "",
    });
    const about = async (id: number) => {
      sent.length = 0;
      await recorder.record({ ...changed, regarding: { ...regarding, uid: `u-${id}` } });
      return [...sent];
    };
    for (let id = 0; id < 2_000; id++) expect(await about(id)).toEqual(["POST"]);
    expect(await about(0)).toEqual(["PATCH"]); // now the most recent one
    expect(await about(2_000)).toEqual(["POST"]); // drives out the least recent, which is 1
    expect(await about(0)).toEqual(["PATCH"]);
    expect(await about(2)).toEqual(["PATCH"]);
    expect(await about(1)).toEqual(["POST", "PATCH", "PATCH"]);
    expect(stored.values().reduce((sum, { count }) => sum + count, 0)).toBe(2_005);
  });
});
