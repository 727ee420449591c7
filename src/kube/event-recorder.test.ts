import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { FakeClock } from "../lib/fake-clock.ts";
import { startSandbox } from "../sandbox/sandbox.ts";
import type { Logger } from "../telemetry/log.ts";
import type { KubeObject } from "./api-types.ts";
import type { ApiClient } from "./client.ts";
import { createEventRecorder, type ObjectEvent } from "./event-recorder.ts";
import { clientOf } from "./test-client.ts";

const events = "/api/v1/namespaces/default/events";

interface StoredEvent extends KubeObject {
  readonly message: string;
  readonly count: number;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
}

/** A recorder that writes to a sandbox, whose clock it does not share. */
async function start() {
  const sandbox = await startSandbox({ controllers: false });
  const { client } = clientOf(sandbox.url);
  const clock = new FakeClock();
  const logged: string[] = [];
  const keep: Logger["warn"] = (message, fields) => void logged.push(JSON.stringify({ message, ...fields }));
  const log: Logger = { debug: keep, info: keep, warn: keep, error: keep };
  const recorder = createEventRecorder({ client, clock, log, component: "wave", instance: "wave-0" });
  onTestFinished(async () => {
    await client.close();
    await sandbox.close();
  });
  return { sandbox, client, clock, logged, recorder };
}

async function storedEvents(client: ApiClient): Promise<readonly StoredEvent[]> {
  return (await client.request<{ items: StoredEvent[] }>({ method: "GET", path: events })).items;
}

const regarding = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web", uid: "u-1" };
const changed: ObjectEvent = { regarding, type: "Normal", reason: "ConfigChanged", message: "ConfigMap web changed" };

describe("an Event", () => {
  it("says what happened to whom, when, and who tells it", async () => {
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

  it("that repeats raises the count and the last time of the one that is there, and is written by one request", async () => {
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

  it("is another one where object, type, reason or message differ", async () => {
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

  it("recorded many times at once is one Event that counts them all", async () => {
    const { client, recorder } = await start();
    await Promise.all(Array.from({ length: 20 }, () => recorder.record(changed)));
    expect((await storedEvents(client)).map(({ count }) => count)).toEqual([20]);
  });

  it("whose first one has expired on the server is written anew", async () => {
    const { client, recorder } = await start();
    await recorder.record(changed);
    const [first] = await storedEvents(client);
    await client.request({ method: "DELETE", path: `${events}/${first?.metadata.name}` });
    await recorder.record(changed);
    await recorder.record(changed);
    const [second, ...more] = await storedEvents(client);
    expect(more).toEqual([]);
    expect(second?.count).toBe(2);
    expect(second?.metadata.name).not.toBe(first?.metadata.name);
  });

  it("of an object without a namespace is kept in default", async () => {
    const { client, recorder } = await start();
    await recorder.record({ ...changed, regarding: { ...regarding, kind: "Node", namespace: "" } });
    const [event] = await storedEvents(client);
    expect(event).toMatchObject({ metadata: { namespace: "default" }, involvedObject: { kind: "Node" } });
    expect(event).not.toHaveProperty("involvedObject.namespace");
  });

  it("has a name that the API server accepts, whatever long name its object has", async () => {
    const { client, logged, recorder } = await start();
    const endsInDots = `${"a".repeat(198)}.-b${"c".repeat(40)}`;
    await recorder.record({ ...changed, regarding: { ...regarding, name: endsInDots } });
    const [event] = await storedEvents(client);
    expect(logged).toEqual([]);
    expect(event?.metadata.name).toMatch(/^a{198}\.[0-9a-f]{16}$/);
  });

  it("that cannot be written is logged by the object's name and never thrown, and the next one is written", async () => {
    const { sandbox, client, logged, recorder } = await start();
    const creates = { match: ({ method }: { method: string }) => method === "POST", times: 2 };
    sandbox.faults.add({ ...creates, action: { type: "status", status: 403 } });
    await expect(recorder.record(changed)).resolves.toBeUndefined();
    await expect(recorder.record(changed)).resolves.toBeUndefined();
    expect(logged).toHaveLength(2);
    expect(logged[0]).toContain('"namespace":"default","name":"web"');
    expect(logged[0]).toContain("create events in default: 403");
    await recorder.record(changed);
    expect((await storedEvents(client)).map(({ count }) => count)).toEqual([1]);
  });

  it("whose repeat breaks off is logged, and counted on the same Event the next time", async () => {
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
  it("is at most 1,024 bytes, cut on the border of a character and marked", async () => {
    const { client, recorder } = await start();
    const messages = ["x".repeat(1024), "x".repeat(1025), `${"x".repeat(1019)}€€€`, "🌊".repeat(300)];
    for (const message of messages) await recorder.record({ ...changed, message });
    const stored = new Map((await storedEvents(client)).map(({ message }) => [message.slice(-3), message]));
    expect([...stored.values()].every((message) => Buffer.byteLength(message) <= 1024)).toBe(true);
    expect([...stored.values()].map((message) => message.replaceAll(/x{9,}/g, "x").replaceAll(/🌊+/gu, "🌊"))).toEqual(
      expect.arrayContaining(["x", "x…", "🌊…"]),
    );
  });

  it("whatever it is made of, is a beginning of what was said", async () => {
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

describe("the memory of Events that were written", () => {
  it("is of the last 2,000: what came before is written anew", async () => {
    const posted: string[] = [];
    const patched: string[] = [];
    async function request<T>({ method, path, body }: Parameters<ApiClient["request"]>[0]): Promise<T> {
      (method === "POST" ? posted : patched).push(`${path} ${JSON.stringify(body)}`);
      return JSON.parse("null");
    }
    const ignore = () => {};
    const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    const recorder = createEventRecorder({
      client: { request },
      clock: new FakeClock(),
      log,
      component: "wave",
      instance: "",
    });
    const about = (id: number) => recorder.record({ ...changed, regarding: { ...regarding, uid: `u-${id}` } });
    for (let id = 0; id < 2_000; id++) await about(id);
    await about(0); // now the most recent one
    expect([posted.length, patched.length]).toEqual([2_000, 1]);
    await about(2_000); // drives out the least recent, which is 1
    await about(0);
    await about(2);
    expect([posted.length, patched.length]).toEqual([2_001, 3]);
    await about(1);
    expect([posted.length, patched.length]).toEqual([2_002, 3]);
  });
});
