import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { FakeClock } from "../lib/fake-clock.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "./sandbox.ts";

const running: Sandbox[] = [];

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox(options);
  running.push(sandbox);
  return sandbox;
}

afterEach(async () => {
  for (const sandbox of running.splice(0)) await sandbox.close();
});

const configMaps = "/api/v1/namespaces/default/configmaps";

function create(sandbox: Sandbox, path: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json", "user-agent": "tester/1" };
  return fetch(sandbox.url + path, { method: "POST", headers, body: JSON.stringify(body) });
}

interface Line {
  readonly type: string;
  readonly object: {
    readonly code?: number;
    readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  };
}

/** The lines of a watch until it ends or breaks. */
async function* watch(sandbox: Sandbox, query: string): AsyncGenerator<Line, void> {
  const response = await fetch(`${sandbox.url}${configMaps}?watch=1&${query}`);
  let rest = "";
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    const lines = (rest + Buffer.from(chunk).toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}

describe("a sandbox", () => {
  it("gives a kubeconfig whose server and namespace are there", async () => {
    const sandbox = await start();
    expect(sandbox.kubeconfig()).toMatchObject({
      clusters: [{ cluster: { server: sandbox.url } }],
      "current-context": "sandbox",
    });
    expect((await fetch(`${sandbox.url}/api/v1/namespaces/default`)).status).toBe(200);
    expect(await (await fetch(`${sandbox.url}/readyz`)).text()).toBe("ok");
  });

  it("says which port is in use", async () => {
    const { url } = await start();
    const port = Number(new URL(url).port);
    await expect(startSandbox({ port })).rejects.toThrow(
      `the sandbox cannot listen on 127.0.0.1:${port}: the port is in use`,
    );
  });

  it("records requests in Kubernetes' words", async () => {
    const sandbox = await start();
    await create(sandbox, configMaps, { metadata: { name: "a" } });
    await create(sandbox, configMaps, { metadata: { name: "a" } });
    await fetch(`${sandbox.url}${configMaps}`);
    const common = { resource: "configmaps", namespace: "default" };
    expect(sandbox.requests).toMatchObject([
      { ...common, verb: "create", status: 201, userAgent: "tester/1" },
      { ...common, verb: "create", status: 409 },
      { ...common, verb: "list", status: 200 },
    ]);
  });

  it("names the field manager after the user agent", async () => {
    const sandbox = await start();
    await create(sandbox, configMaps, { metadata: { name: "a" }, data: { a: "b" } });
    expect(await managers(sandbox, `${configMaps}/a`)).toEqual(["tester"]);
  });

  it("makes no Pods where controllers are off, and still takes dependents along", async () => {
    const sandbox = await start({ controllers: false });
    const owner = (await (await create(sandbox, configMaps, { metadata: { name: "owner" } })).json()) as {
      metadata: { uid: string };
    };
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid }];
    await create(sandbox, configMaps, { metadata: { name: "owned", ownerReferences } });
    await fetch(`${sandbox.url}${configMaps}/owner`, { method: "DELETE" });
    await expect.poll(async () => (await fetch(`${sandbox.url}${configMaps}/owned`)).status).toBe(404);
    expect(await (await fetch(`${sandbox.url}/api/v1/nodes`)).json()).toMatchObject({ items: [] });
  });

  it("keeps a Pod in ContainerCreating until the Secret that it mounts exists", async () => {
    const sandbox = await start({ podDelayMs: 1 });
    const volumes = [{ name: "v", secret: { secretName: "late" } }];
    const pods = "/api/v1/namespaces/default/pods";
    await create(sandbox, pods, {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "c" }], volumes },
    });
    const waiting = async () => JSON.stringify(await (await fetch(`${sandbox.url}${pods}/p`)).json());
    await expect.poll(waiting).toContain('"waiting":{"reason":"ContainerCreating"}');
    await create(sandbox, "/api/v1/namespaces/default/secrets", { metadata: { name: "late" } });
    await expect.poll(waiting).toContain('"phase":"Running"');
  });

  it("empties a namespace that is deleted and refuses new objects in it", async () => {
    const sandbox = await start();
    await create(sandbox, "/api/v1/namespaces", { metadata: { name: "n" } });
    const held = { metadata: { name: "held", finalizers: ["example.com/held"] } };
    await create(sandbox, "/api/v1/namespaces/n/configmaps", held);
    await fetch(`${sandbox.url}/api/v1/namespaces/n`, { method: "DELETE" });
    expect((await create(sandbox, "/api/v1/namespaces/n/configmaps", { metadata: { name: "new" } })).status).toBe(403);
    await fetch(`${sandbox.url}/api/v1/namespaces/n/configmaps/held`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: '{"metadata":{"finalizers":null}}',
    });
    await expect.poll(async () => (await fetch(`${sandbox.url}/api/v1/namespaces/n`)).status).toBe(404);
  });

  it("never quotes a body that it cannot read", async () => {
    const sandbox = await start();
    const body = '{"stringData":{"password":"hunter2"';
    const response = await fetch(`${sandbox.url}/api/v1/namespaces/default/secrets`, { method: "POST", body });
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain("hunter2");
  });
});

async function managers(sandbox: Sandbox, path: string): Promise<string[]> {
  const object = (await (await fetch(sandbox.url + path)).json()) as {
    metadata: { managedFields?: { manager: string }[] };
  };
  return (object.metadata.managedFields ?? []).map(({ manager }) => manager);
}

describe("a sandbox's watches", () => {
  it("break when connections are dropped, and resume", async () => {
    const sandbox = await start();
    const lines = watch(sandbox, "resourceVersion=1");
    await create(sandbox, configMaps, { metadata: { name: "a" } });
    const first = await lines.next();
    const version = first.value?.object.metadata.resourceVersion ?? "";
    const broken = expect(lines.next()).rejects.toThrow("terminated");
    sandbox.dropConnections();
    await broken;
    await create(sandbox, configMaps, { metadata: { name: "b" } });
    const resumed = await watch(sandbox, `resourceVersion=${version}`).next();
    expect(resumed.value).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
  });

  it("get 410 from before the history that is kept, and none from within it", async () => {
    const sandbox = await start({ historySize: 3, controllers: false });
    const versions: string[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      const made = (await (await create(sandbox, configMaps, { metadata: { name } })).json()) as Line["object"];
      versions.push(made.metadata.resourceVersion ?? "");
    }
    const kept = await watch(sandbox, `resourceVersion=${versions[0]}`).next();
    expect(kept.value).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
    const lost = await watch(sandbox, `resourceVersion=${Number(versions[0]) - 1}`).next();
    expect(lost.value).toMatchObject({ type: "ERROR", object: { code: 410 } });
  });

  it("get 410 after history is told to expire, even where they have seen everything", async () => {
    const sandbox = await start();
    const list = (await (await fetch(`${sandbox.url}${configMaps}`)).json()) as Line["object"];
    sandbox.expireHistory();
    const lost = await watch(sandbox, `resourceVersion=${list.metadata.resourceVersion}`).next();
    expect(lost.value).toMatchObject({ type: "ERROR", object: { code: 410 } });
    const token = `${configMaps}?limit=1&continue=${Buffer.from('{"rv":2,"start":"default/a"}').toString("base64url")}`;
    expect((await fetch(sandbox.url + token)).status).toBe(410);
  });

  it("get bookmarks at intervals and before their end, where they ask for them", async () => {
    const clock = new FakeClock();
    const sandbox = await start({ clock, bookmarkMs: 10_000, controllers: false });
    const lines = watch(sandbox, "resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=15");
    const first = lines.next();
    await expect.poll(() => sandbox.requests.length).toBe(1);
    await clock.advance(10_000);
    expect((await first).value).toMatchObject({ type: "BOOKMARK", object: { kind: "ConfigMap" } });
    await create(sandbox, configMaps, { metadata: { name: "a" } });
    await clock.advance(5_000);
    const rest: Line[] = [];
    for await (const line of lines) rest.push(line);
    expect(rest.map(({ type }) => type)).toEqual(["ADDED", "BOOKMARK"]);
    expect(rest[1]?.object.metadata.resourceVersion).toBe(rest[0]?.object.metadata.resourceVersion);
  });
});

describe("faults", () => {
  it("refuse with a status and Retry-After as often as they are told", async () => {
    const sandbox = await start();
    const action = { type: "status", status: 429, retryAfterSeconds: 7 } as const;
    sandbox.faults.add({ match: ({ method, path }) => method === "GET" && path === configMaps, action, times: 1 });
    const refused = await fetch(sandbox.url + configMaps);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("7");
    expect(await refused.json()).toMatchObject({
      kind: "Status",
      reason: "TooManyRequests",
      details: { retryAfterSeconds: 7 },
    });
    expect((await fetch(sandbox.url + configMaps)).status).toBe(200);
  });

  it("drop the connection until they are taken away", async () => {
    const sandbox = await start();
    const end = sandbox.faults.add({ match: ({ query }) => query.get("watch") === "1", action: { type: "drop" } });
    await expect(watch(sandbox, "").next()).rejects.toThrow("fetch failed");
    expect(sandbox.requests.at(-1)).toMatchObject({ verb: "watch", status: 0 });
    end();
    expect((await fetch(`${sandbox.url}${configMaps}?watch=1`)).status).toBe(200);
  });

  it("delay the answer", async () => {
    const clock = new FakeClock();
    const sandbox = await start({ clock, controllers: false });
    sandbox.faults.add({ match: () => true, action: { type: "delay", ms: 5_000 } });
    const idle = clock.pending;
    let answered = false;
    const answer = fetch(sandbox.url + configMaps).then(() => {
      answered = true;
    });
    await expect.poll(() => clock.pending).toBe(idle + 1);
    await clock.advance(4_999);
    expect(answered).toBe(false);
    await clock.advance(1);
    await answer;
  });

  it("swallow the request", async () => {
    const sandbox = await start();
    sandbox.faults.add({ match: () => true, action: { type: "blackHole" } });
    const signal = AbortSignal.timeout(200);
    await expect(fetch(sandbox.url + configMaps, { signal })).rejects.toThrow("timeout");
    expect(sandbox.requests).toMatchObject([{ verb: "list", status: 0 }]);
  });
});

describe("a sandbox with a certificate", () => {
  const folder = mkdtempSync(join(tmpdir(), "wave-sandbox-"));
  const file = (name: string) => join(folder, name);
  const subject = ["-subj", "/CN=sandbox", "-addext", "subjectAltName=IP:127.0.0.1"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-nodes", ...curve, ...subject, "-keyout", file("key"), "-out", file("cert")],
    { stdio: "ignore" },
  );
  const tls = { key: readFileSync(file("key"), "utf8"), cert: readFileSync(file("cert"), "utf8") };
  rmSync(folder, { recursive: true });

  it("serves HTTP/2 to a client that offers it, also watches that are dropped", async () => {
    const sandbox = await start({ tls });
    const session = connectHttp2(sandbox.url, { ca: tls.cert });
    const list = session.request({ ":path": configMaps });
    let text = "";
    for await (const chunk of list) text += chunk;
    expect(JSON.parse(text)).toMatchObject({ kind: "ConfigMapList" });
    const events = session.request({ ":path": `${configMaps}?watch=1` });
    events.on("error", () => {});
    await new Promise((resolve) => events.once("response", resolve));
    const closed = new Promise((resolve) => session.once("close", resolve));
    sandbox.dropConnections();
    await closed;
    const again = connectHttp2(sandbox.url, { ca: tls.cert });
    again.on("error", () => {});
    sandbox.faults.add({ match: () => true, action: { type: "drop" } });
    const dropped = again.request({ ":path": configMaps });
    dropped.on("error", () => {});
    await new Promise((resolve) => again.once("close", resolve));
    expect(sandbox.requests.at(-1)).toMatchObject({ verb: "list", status: 0 });
  });

  it("serves HTTP/1.1 to a client that offers nothing else", async () => {
    const sandbox = await start({ tls });
    const status = await new Promise((resolve, reject) => {
      const request = httpsRequest(sandbox.url + configMaps, { ca: tls.cert, agent: false }, (response) => {
        response.resume();
        resolve([response.statusCode, response.httpVersion]);
      });
      request.on("error", reject).end();
    });
    expect(status).toEqual([200, "1.1"]);
  });
});
