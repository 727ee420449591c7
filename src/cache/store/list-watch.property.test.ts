import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { type FaultAction, type Sandbox, startSandbox } from "../../../sandbox/sandbox.ts";
import { clientOf } from "../../../test/support/kube/client.ts";
import { makeCertificates } from "../../../test/support/kube/server.ts";
import { type KubeObject, resourcePath, resources } from "../../kube/api/resources.ts";
import { listWatch } from "../../kube/list-watch/list-watch.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { runReflector } from "./reflector.ts";
import { Store, type StoreChange } from "./store.ts";

interface ConfigMap extends KubeObject {
  readonly data?: { readonly value?: string };
}

/** A write of a client, or a fault of the list-watch. */
type Step =
  | { readonly do: "write" | "delete"; readonly name: string; readonly value: string }
  | { readonly do: "drop" | "expire" }
  | { readonly do: "fail"; readonly action: FaultAction; readonly times: number }
  | { readonly do: "wait"; readonly ms: number };

const name = fc.constantFrom("a", "b", "c", "d", "e");
const failure: fc.Arbitrary<FaultAction> = fc.oneof(
  fc.constant({ type: "drop" as const }),
  fc.constant({ type: "blackHole" as const }),
  fc.record({ type: fc.constant("delay" as const), ms: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ type: fc.constant("status" as const), status: fc.constantFrom(401, 403, 404, 410, 500, 503) }),
  fc.constant({ type: "status" as const, status: 429, retryAfterSeconds: 1 }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({
      do: fc.constantFrom("write" as const, "write" as const, "delete" as const),
      name,
      value: fc.constantFrom("1", "2"),
    }),
    weight: 6,
  },
  { arbitrary: fc.record({ do: fc.constantFrom("drop" as const, "expire" as const) }), weight: 2 },
  fc.record({ do: fc.constant("fail" as const), action: failure, times: fc.integer({ min: 1, max: 2 }) }),
  { arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 15 }) }), weight: 2 },
);

/** Divides all waits by 100, also backoffs and deadlines. */
const hurriedClock: Clock = { ...systemClock, timer: (ms, callback) => systemClock.timer(ms / 100, callback) };
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const path = resourcePath(resources.configMaps, { namespace: "default" });

const tls = makeCertificates();

/** Connects the parts that are tested: sandbox, client, list-watch, reflector and store. */
async function start(http2: boolean, onChange: (change: StoreChange<string>) => void) {
  const sandbox = await startSandbox({ controllers: false, bookmarkMs: 20, ...(http2 && { tls: tls.server }) });
  const trust = { tls: { ca: tls.ca } };
  const { client, metrics } = clientOf(sandbox.url, { clock: hurriedClock, ...trust });
  const admin = clientOf(sandbox.url, trust).client;
  const store = new Store<string>({ kind: "ConfigMap", same: (a, b) => a === b, onChange });
  const stop = new AbortController();
  const events = listWatch<ConfigMap>({
    client,
    resource: resources.configMaps,
    namespace: "default",
    clock: hurriedClock,
    log: silentLogger,
    metrics,
    signal: stop.signal,
  });
  const transform = ({ data }: ConfigMap) => data?.value ?? "";
  const running = runReflector({ kind: "ConfigMap", events, store, transform, log: silentLogger });
  const close = async () => {
    stop.abort();
    await running;
    await Promise.all([client.close(), admin.close()]);
    await sandbox.close();
  };
  return { sandbox, admin, store, close };
}

type Running = Awaited<ReturnType<typeof start>>;

/** The request of the tests' own that broke with its connection is sent again. */
async function certainly(send: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const outcome = await send().then(
      () => "done",
      (error: { readonly status?: number }) => (error.status === undefined ? "broken" : "answered"),
    );
    if (outcome !== "broken") return;
  }
}

async function take(each: Step, { sandbox, admin }: Running): Promise<void> {
  switch (each.do) {
    case "write": {
      const query = { fieldManager: "test", force: true };
      const body = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: each.name },
        data: { value: each.value },
      };
      const contentType = "application/apply-patch+yaml";
      return certainly(() =>
        admin.request({ method: "PATCH", path: `${path}/${each.name}`, query, body, contentType }),
      );
    }
    case "delete":
      return certainly(() => admin.request({ method: "DELETE", path: `${path}/${each.name}` }));
    case "drop":
      return sandbox.dropConnections();
    case "expire":
      return sandbox.expireHistory();
    case "fail":
      return failReads(sandbox, each.action, each.times);
    case "wait":
      await pause(each.ms);
  }
}

/** The reads of the list-watch go wrong; those of the test are of another path. */
function failReads(sandbox: Sandbox, action: FaultAction, times: number): void {
  sandbox.faults.add({ match: ({ method, path: asked }) => method === "GET" && asked === path, action, times });
}

function refuseStreams(sandbox: Sandbox): void {
  sandbox.faults.add({
    match: ({ query }) => query.has("sendInitialEvents"),
    action: { type: "status", status: 422 },
  });
}

async function onServer({ admin }: Running): Promise<Record<string, string>> {
  const all = resourcePath(resources.configMaps);
  const { items } = await admin.request<{ items: ConfigMap[] }>({ method: "GET", path: all });
  return Object.fromEntries(items.map(({ metadata, data }) => [metadata.name, data?.value ?? ""]));
}

const held = (store: Store<string>) =>
  Object.fromEntries(
    ["a", "b", "c", "d", "e", "last"].flatMap((each) => {
      const value = store.get("default", each);
      return value === undefined ? [] : [[each, value]];
    }),
  );

describe.each([
  ["HTTP/1.1", false],
  ["HTTP/2", true],
])("a store that a list-watch fills over %s", (_, http2) => {
  it.each([
    ["streams", false],
    ["pages", true],
  ])("equals the server after any interleaving of writes and faults, lists being %s", async (_lists, pages) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: "max" }), async (steps) => {
        const replayed: Record<string, string> = {};
        const running = await start(http2, ({ key, before, after }) => {
          const own = key.slice("ConfigMap/default/".length);
          expect(replayed[own]).toBe(before);
          expect(after).not.toBe(before);
          if (after === undefined) delete replayed[own];
          else replayed[own] = after;
        });
        if (pages) refuseStreams(running.sandbox);
        try {
          for (const each of steps) await take(each, running);
          await take({ do: "write", name: "last", value: "1" }, running);
          const expected = await onServer(running);
          // The first list is filled in place: all of it may be there before its end has come.
          const state = () => ({ synced: running.store.synced, held: held(running.store) });
          const patience = { interval: 2 };
          await expect.poll(state, patience).toEqual({ synced: true, held: expected });
          expect(replayed).toEqual(expected);
        } finally {
          await running.close();
        }
      }),
      // Making a failure smaller would wait for it again and again; its seed repeats it.
      { numRuns: inject("everything") ? 12 : 5, endOnFailure: true },
    );
  });
});
