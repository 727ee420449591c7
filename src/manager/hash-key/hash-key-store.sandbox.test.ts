import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Secret } from "#kubernetes";
import { type Sandbox, startSandbox } from "../../../sandbox/sandbox.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { clientOf } from "../../../test/support/kube/client.ts";
import { rotateHashKey } from "../../domain/references/annotations.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import { systemClock } from "../../lib/clock.ts";
import { HashKeyStore } from "./hash-key-store.ts";

const secrets = "/api/v1/namespaces/default/secrets";
const path = `${secrets}/wave-hash-key`;
const managedBy = { "app.kubernetes.io/managed-by": "wave" };
const bytes = (fill: number) => Buffer.alloc(32, fill);

type Stored = KubeObject & Pick<Secret, "data" | "type">;

let sandbox: Sandbox;
let admin: ReturnType<typeof clientOf>["client"];
const stopping: (() => Promise<void>)[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ controllers: false });
  admin = clientOf(sandbox.url).client;
});
afterAll(async () => {
  await admin.close();
  await sandbox.close();
});
beforeEach(async () => {
  await admin.request({ method: "DELETE", path }).catch(() => {});
});
afterEach(async () => {
  sandbox.faults.clear();
  await Promise.all(stopping.splice(0).map((stop) => stop()));
});

/** The store of a replica, and its log lines. */
function start(newBytes?: () => Uint8Array) {
  const { client, metrics } = clientOf(sandbox.url);
  const lines: string[] = [];
  const say = (message: string, fields: object = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: () => {}, info: say, warn: say, error: say };
  let changes = 0;
  const store = new HashKeyStore({
    client,
    secret: { namespace: "default", name: "wave-hash-key" },
    clock: systemClock,
    log,
    metrics,
    random: Math.random,
    onChange: () => changes++,
    ...(newBytes && { newBytes }),
  });
  const stop = new AbortController();
  const running = store.run(stop.signal);
  stopping.push(async () => {
    stop.abort();
    await running;
    await client.close();
  });
  return { store, lines, metrics, changes: () => changes, signal: stop.signal };
}

const never = new AbortController().signal;

async function started(newBytes?: () => Uint8Array) {
  const replica = start(newBytes);
  await replica.store.whenKnown(never);
  return replica;
}

function stored(): Promise<Stored> {
  return admin.request<Stored>({ method: "GET", path });
}

function create(data: Record<string, Buffer>, labels: object = managedBy): Promise<unknown> {
  const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, value.toString("base64")]));
  const body = { metadata: { name: "wave-hash-key", labels }, type: "Opaque", data: encoded };
  return admin.request({ method: "POST", path: secrets, body });
}

function askForRotation(): Promise<unknown> {
  const body = { metadata: { annotations: { [rotateHashKey]: "true" } } };
  return admin.request({ method: "PATCH", path, body });
}

const ids = ({ store }: { store: HashKeyStore }) => {
  const { current, previous, remembered } = store.known();
  return [current.id, previous?.id, remembered.map(({ id }) => id)];
};

describe("HashKeyStore", () => {
  it("lets the first of many replicas create the key, and all use the same", async () => {
    const replicas = await Promise.all(Array.from({ length: 5 }, () => started()));
    expect(new Set(replicas.map((replica) => JSON.stringify(ids(replica)))).size).toBe(1);
    const made = replicas.flatMap(({ lines }) => lines).filter((line) => line.startsWith("created the hash key"));
    expect(made).toHaveLength(1);
    const secret = await stored();
    expect([secret.type, secret.metadata.labels]).toEqual(["Opaque", managedBy]);
    expect(Buffer.from(secret.data?.key ?? "", "base64")).toHaveLength(32);
  });

  it("knows no key and reports the problem until the Secret can be read", async () => {
    sandbox.faults.add({
      match: (request) => request.path === path,
      action: { type: "status", status: 403 },
      times: 2,
    });
    const replica = start();
    expect(() => replica.store.known()).toThrow("not known yet");
    await eventually(() => expect(replica.store.problem()).toContain("403"));
    expect(replica.metrics.render()).toContain("wave_hash_key_problem 1\n");
    await replica.store.whenKnown(never);
    expect(replica.store.problem()).toBeUndefined();
    await eventually(() => expect(replica.metrics.render()).toContain("wave_hash_key_problem 0\n"));
  });

  it("rotates the key once on request, and all replicas use the new one", async () => {
    const replicas = await Promise.all([started(), started(), started()]);
    const [before] = replicas.map(({ store }) => store.known().current.id);
    await askForRotation();
    await eventually(() => expect(replicas.map(({ changes }) => changes())).toEqual([1, 1, 1]));
    const { metadata, data } = await stored();
    expect(metadata.annotations ?? {}).not.toHaveProperty([rotateHashKey]);
    expect(Object.keys(data ?? {})).toEqual(["key", "previous"]);
    for (const replica of replicas) {
      expect(replica.store.known().current.id).not.toBe(before);
      expect(ids(replica).slice(1)).toEqual([before, []]);
    }
  });

  it("remembers keys that are no longer stored", async () => {
    const replica = await started();
    const order = [ids(replica)[0]];
    for (let rotations = 1; rotations <= 3; rotations++) {
      await askForRotation();
      await eventually(() => expect(replica.changes()).toBe(rotations));
      order.unshift(ids(replica)[0]);
    }
    expect(ids(replica)).toEqual([order[0], order[1], order.slice(2)]);
    expect(ids(await started())).toEqual([order[0], order[1], []]);
  });

  it("creates no key with the id of a stored key", async () => {
    const made = [bytes(1), bytes(1), bytes(2), bytes(2), bytes(1), bytes(3)];
    const replica = await started(() => made.shift() ?? bytes(9));
    await askForRotation();
    await eventually(() => expect(replica.changes()).toBe(1));
    await askForRotation();
    await eventually(() => expect(replica.changes()).toBe(2));
    expect(made).toEqual([]);
  });

  it("restores the keys after the Secret was deleted", async () => {
    const replicas = await Promise.all([started(), started()]);
    const before = await stored();
    await admin.request({ method: "DELETE", path });
    await eventually(async () => expect((await stored()).metadata.uid).not.toBe(before.metadata.uid));
    expect((await stored()).data).toEqual(before.data);
    expect(replicas.map(({ changes }) => changes())).toEqual([0, 0]);
    const lines = replicas.flatMap((replica) => replica.lines);
    expect(lines.filter((line) => line.includes("restored"))).toHaveLength(1);
  });

  it("does not overwrite the keys of another program, and uses them", async () => {
    const replica = await started();
    const [before] = ids(replica);
    // Another replica, which knew nothing, was quicker than the one that would write back.
    const undo = sandbox.faults.add({
      match: ({ method, path: asked }) => method === "GET" && asked === path,
      action: { type: "status", status: 503 },
    });
    await admin.request({ method: "DELETE", path });
    await create({ key: bytes(7) });
    undo();
    await eventually(() => expect(replica.changes()).toBe(1));
    expect(ids(replica).slice(1)).toEqual([undefined, [before]]);
    expect((await stored()).data).toEqual({ key: bytes(7).toString("base64") });
  });

  it.each<[string, Record<string, Buffer>, object, string]>([
    ["is not Wave's", { key: bytes(1) }, {}, "was not created by Wave; delete or rename it"],
    ["has no key", { previous: bytes(1) }, managedBy, 'is damaged: "key" is not 32 bytes long'],
    ["has a short one", { key: bytes(0x41).subarray(1) }, managedBy, 'is damaged: "key" is not 32 bytes long'],
    ["has a short previous one", { key: bytes(1), previous: bytes(1).subarray(1) }, managedBy, '"previous" is not'],
  ])("rejects a Secret that %s with one line and the next step, and writes nothing", async (...row) => {
    const [, data, labels, message] = row;
    await create(data, labels);
    const before = await stored();
    const replica = start();
    await eventually(() => expect(replica.store.problem()).toContain(message));
    expect(replica.store.problem()).not.toContain("\n");
    expect(replica.lines.join()).not.toContain(Object.values(data)[0]?.toString("base64").slice(0, 30));
    expect((await stored()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    await admin.request({ method: "DELETE", path });
    await replica.store.whenKnown(never);
  });

  it("continues with the known keys while the Secret is damaged, and reports that by the metric and one log line", async () => {
    const replica = await started();
    const before = ids(replica);
    const { data } = await stored();
    await admin.request({ method: "PATCH", path, body: { data: { key: "AAAA" } } });
    await eventually(() => expect(replica.metrics.render()).toContain("wave_hash_key_problem 1\n"));
    expect(ids(replica)).toEqual(before);
    expect(replica.store.problem()).toBeUndefined();
    expect(replica.lines.filter((line) => line.includes("continuing with the known keys"))).toHaveLength(1);
    await admin.request({ method: "PATCH", path, body: { data } });
    await eventually(() => expect(replica.metrics.render()).toContain("wave_hash_key_problem 0\n"));
    expect(ids(replica)).toEqual(before);
  });

  it("reads the keys again before a key is unknown, once for all concurrent callers", async () => {
    const replica = await started();
    // No watch reports it.
    sandbox.faults.add({ match: ({ query }) => query.has("watch"), action: { type: "status", status: 503 } });
    sandbox.dropConnections();
    const keys = { key: bytes(5).toString("base64"), previous: (await stored()).data?.key };
    await admin.request({ method: "PATCH", path, body: { data: keys } });
    const reads = () => sandbox.requests.filter(({ verb, name }) => verb === "get" && name === "wave-hash-key").length;
    const before = reads();
    await Promise.all(Array.from({ length: 100 }, () => replica.store.reread(never)));
    expect(reads() - before).toBeLessThanOrEqual(2);
    expect(Buffer.from(keys.key, "base64").equals(replica.store.known().current.secret.export())).toBe(true);
  });

  it("rejects instead of an unknown key while the Secret cannot be read", async () => {
    const replica = await started();
    sandbox.faults.add({ match: (request) => request.path === path, action: { type: "status", status: 503 } });
    await expect(replica.store.reread(never)).rejects.toThrow(/^cannot read the hash key: .*503/);
    const stop = AbortSignal.abort(new Error("the term is over"));
    await expect(replica.store.reread(stop)).rejects.toThrow("the term is over");
  });
});
