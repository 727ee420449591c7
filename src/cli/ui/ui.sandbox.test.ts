import { createHash } from "node:crypto";
import { createConnection } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { commandScene } from "../../../test/support/cli/commands.ts";
import { testUi } from "../../../test/support/cli/ui.ts";

const sandbox = await startSandbox();
afterAll(() => sandbox.close());

const atOnce = { WAVE_SETTLE: "0" };
let scenes = 0;

/** A namespace with a ConfigMap and the page of this namespace. */
async function scene(...args: readonly string[]) {
  const namespace = `ui-${++scenes}`;
  const cluster = commandScene(sandbox, namespace);
  await cluster.createNamespace(namespace);
  await cluster.createConfigMap("page", "1");
  const ui = await testUi(["-n", namespace, ...args], { ...cluster.env, ...atOnce });
  return { ...cluster, namespace, ui, id: (name: string) => `sandbox/${namespace}/deployment/${name}` };
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

describe("the server of wave ui", () => {
  it("answers only below its token", async () => {
    await using ui = (await scene()).ui;
    const { pathname: root, host } = new URL(ui.url);
    const token = root.slice(1, -1);
    expect(token).toMatch(/^[\w-]{32}$/);
    expect((await ui.send(root)).status).toBe(200);
    const others = ["/", "/events", `/${token.slice(1)}/`, `/${token}x/`, `/${token.toUpperCase()}/`, `//${token}/`];
    const outside = ["/../", "/%2e%2e/", "/..%2f", "/x/../", `http://${host}/`, "/a%00", "/page.js"].map((each) =>
      each.startsWith("/") ? `/${token}${each}x` : `${each}x`,
    );
    for (const path of [...others, ...outside, `/${token}`, `/${token}/../../etc/passwd`])
      expect([path, (await ui.send(path)).status]).toEqual([path, 404]);
  });

  it("gives another page of this machine a token of its own", async () => {
    await using first = (await scene()).ui;
    await using second = (await scene()).ui;
    expect(new URL(first.url).pathname).not.toBe(new URL(second.url).pathname);
  });

  it("rejects the names of other hosts, which point to 127.0.0.1", async () => {
    await using ui = (await scene()).ui;
    const { pathname, port } = new URL(ui.url);
    const statusFor = async (host: string) => (await ui.send(pathname, { headers: { host } })).status;
    for (const host of [
      "evil.example",
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      "127.0.0.1",
      "localhost",
    ])
      expect([host, await statusFor(host)]).toEqual([host, 403]);
    expect(await statusFor(`localhost:${port}`)).toBe(200);
  });

  it("accepts only GET", async () => {
    await using ui = (await scene()).ui;
    const { pathname } = new URL(ui.url);
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]) {
      const { status, headers } = await ui.send(pathname, { method });
      expect({ method, status, allow: headers.allow }).toEqual({ method, status: 405, allow: "GET" });
    }
  });

  it("sends the headers that protect the page with each answer", async () => {
    await using ui = (await scene()).ui;
    const { pathname } = new URL(ui.url);
    const answers = [
      await ui.send(pathname),
      await ui.send("/"),
      await ui.send(pathname, { method: "POST" }),
      await ui.send(pathname, { headers: { host: "evil.example" } }),
      await ui.send(`${pathname}workload?id=x`),
    ];
    const stream = await fetch(`${ui.url}events`);
    await stream.body?.cancel();
    for (const { headers } of [...answers, { headers: Object.fromEntries(stream.headers) }])
      expect(headers).toMatchObject({
        "content-security-policy": policy,
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "cross-origin-resource-policy": "same-origin",
      });
    expect(answers.map(({ headers }) => headers["access-control-allow-origin"])).toEqual(answers.map(() => undefined));
  });

  it("shows no value of an object, and no digest of one", async () => {
    const { ui: page, namespace, createWorkload, merge, id } = await scene();
    await using ui = page;
    const values = [
      "marker-of-a-configmap",
      "marker-of-a-secret",
      "marker-of-an-annotation",
      "marker-of-the-second-edit",
    ];
    const [inConfigMap = "", inSecret = "", applied = "", later = ""] = values;
    const post = (plural: string, body: object) =>
      fetch(`${sandbox.url}/api/v1/namespaces/${namespace}/${plural}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": applied };
    await post("configmaps", { metadata: { name: "settings", annotations }, data: { color: inConfigMap } });
    await post("secrets", { metadata: { name: "login", annotations }, stringData: { password: inSecret } });
    await createWorkload("deployments/web", {
      envFrom: [{ configMapRef: { name: "settings" } }, { secretRef: { name: "login" } }],
    });
    const reader = ui.open();
    await reader.until(({ workloads }) => workloads[id("web")]);
    await merge("configmaps/settings", { data: { color: later } });
    await reader.until(({ changes }) => Object.values(changes).find(({ keys }) => keys.includes("color")));
    const paths = [
      `workload?id=${id("web")}`,
      `object?cluster=sandbox&namespace=${namespace}&object=configmap/settings`,
      `object?cluster=sandbox&namespace=${namespace}&object=secret/login`,
      "",
    ];
    const answers = await Promise.all(paths.map((path) => ui.send(`${new URL(ui.url).pathname}${path}`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const bytes = [reader.text, ...answers.map(({ body }) => body)].join("\n");
    expect(bytes).toContain("secret/login");
    for (const value of values) {
      const digest = createHash("sha256").update(value);
      const forms = [
        value,
        Buffer.from(value).toString("base64"),
        digest.copy().digest("hex"),
        digest.digest("base64"),
      ];
      expect(forms.filter((form) => bytes.includes(form))).toEqual([]);
    }
  });

  it("writes nothing to the cluster", async () => {
    const { ui: page, createWorkload, id } = await scene();
    const from = sandbox.requests.length;
    {
      await using ui = page;
      await createWorkload("deployments/web");
      const reader = ui.open();
      await reader.until(({ workloads }) => workloads[id("web")]);
      await reader.until(({ clusters }) => clusters.sandbox?.doctor);
      await ui.send(`${new URL(ui.url).pathname}workload?id=${id("web")}`);
    }
    const own = sandbox.requests.slice(from).filter(({ userAgent }) => userAgent.startsWith("wave-ui"));
    expect(own.length).toBeGreaterThan(10);
    // A review asks the API server for permissions, and stores nothing.
    const writes = own.filter(
      ({ verb, resource }) => !["get", "list", "watch"].includes(verb) && !resource.endsWith("reviews"),
    );
    expect(writes).toEqual([]);
  });

  it("serves many pages, and refuses more than it can", async () => {
    await using ui = (await scene()).ui;
    const readers = Array.from({ length: 32 }, () => ui.open());
    expect(new Set(await Promise.all(readers.map(({ status }) => status)))).toEqual(new Set([200]));
    expect(await ui.open().status).toBe(503);
    readers[0]?.close();
    await expect.poll(async () => ui.open().status).toBe(200);
  });

  it("sends a page that did not read for a while the whole model, and then differences", async () => {
    const { ui: page, createWorkload, merge, id } = await scene();
    await using ui = page;
    await createWorkload("deployments/web");
    const other = ui.open();
    await other.until(({ workloads }) => workloads[id("web")]);
    const { hostname, port, pathname } = new URL(ui.url);
    const socket = createConnection({ host: hostname, port: Number(port) });
    let received = "";
    socket.write(`GET ${pathname}events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
    socket.pause();
    // Larger than the buffers of both sockets.
    const hold = (text: string) =>
      merge("deployments/web", { metadata: { annotations: { "wave.pusher.com/hold": text } } });
    for (let edit = 0; edit < 3; edit++) {
      await hold("true");
      await other.until(({ tasks }) => (Object.keys(tasks).length === 1 ? true : undefined));
      await hold("false");
      await other.until(({ tasks }) => (Object.keys(tasks).length === 0 ? true : undefined));
    }
    socket.on("data", (chunk: Buffer) => {
      received += chunk.toString();
    });
    socket.resume();
    await hold("true");
    await expect.poll(() => received.slice(received.lastIndexOf('"tasks"'))).toContain('"type":"hold"');
    socket.destroy();
  });

  it("sends the whole model again after the stream was cut", async () => {
    const { ui: page, createWorkload, id } = await scene();
    await using ui = page;
    await createWorkload("deployments/web");
    const first = ui.open();
    await first.until(({ workloads }) => workloads[id("web")]);
    first.close();
    await createWorkload("deployments/api");
    const second = ui.open();
    await second.until(({ workloads }) => workloads[id("api")]);
    expect(second.wholeModels).toBe(1);
    expect(Object.keys(second.model?.workloads ?? {}).sort()).toEqual([id("api"), id("web")]);
  });
});

describe("the rows of wave ui", () => {
  it("show an edit with its keys and its editor, and the workloads that wait", async () => {
    const { ui: page, createWorkload, merge, roll, toBe, id, namespace } = await scene();
    await using ui = page;
    for (const name of ["api", "web"]) {
      await createWorkload(`deployments/${name}`);
      await roll(`deployments/${name}`);
      await toBe(`deployments/${name}`, "current");
    }
    const reader = ui.open();
    await reader.until(({ workloads }) => (workloads[id("web")]?.state === "current" ? true : undefined));
    await merge("configmaps/page", { data: { color: "red" } }, "argocd-controller");
    const change = await reader.until(({ changes }) =>
      Object.values(changes).find(({ editor }) => editor === "argocd-controller"),
    );
    expect(change).toMatchObject({
      namespace,
      object: "configmap/page",
      keys: ["color"],
      state: "rolling",
      batches: [
        { number: 0, workloads: [{ id: id("api"), state: "waiting" }] },
        { number: 1, workloads: [{ id: id("web"), state: "waiting" }] },
      ],
    });
    expect(reader.model?.workloads[id("web")]).toMatchObject({ state: "held", because: "batch", needsPerson: false });
  });

  it("come with a timeline of all clusters", async () => {
    const { ui: page, createWorkload, merge, namespace, id } = await scene();
    await using ui = page;
    await createWorkload("deployments/web");
    const reader = ui.open();
    await reader.until(({ workloads }) => workloads[id("web")]);
    await merge("configmaps/page", { data: { color: "red" } }, "kubectl-edit");
    const { pathname } = new URL(ui.url);
    const read = async (query: string) => JSON.parse((await ui.send(`${pathname}timeline?${query}`)).body);
    await expect
      .poll(async () => (await read("since=0")).entries)
      .toContainEqual(
        expect.objectContaining({
          cluster: "sandbox",
          namespace,
          type: "edit",
          about: "configmap/page",
          by: "kubectl-edit",
        }),
      );
    expect((await read(`since=${Date.now() + 60_000}`)).entries).toEqual([]);
    expect((await ui.send(`${pathname}timeline?since=x`)).status).toBe(404);
  });

  it("show the key of an edit before the page was opened, if no other key can be meant", async () => {
    const { ui: page, createWorkload, merge, namespace, env } = await scene();
    await page[Symbol.asyncDispose]();
    await createWorkload("deployments/web");
    const keysOf = async () => {
      await using ui = await testUi(["-n", namespace], { ...env, ...atOnce });
      const change = await ui.open().until(({ changes }) => Object.values(changes)[0]);
      return [change.editor, change.keys];
    };
    await merge("configmaps/page", { data: { color: "red" } }, "kubectl-edit");
    expect(await keysOf()).toEqual(["kubectl-edit", ["color"]]);
    await merge("configmaps/page", { data: { color: "blue", size: "1" } }, "kubectl-edit");
    expect(await keysOf()).toEqual(["kubectl-edit", []]);
  });

  it("show who holds a workload, why, and the command that ends the hold", async () => {
    const { ui: page, createWorkload, run, namespace, id } = await scene();
    await using ui = page;
    await createWorkload("deployments/web");
    const reader = ui.open();
    await run("hold", "deployment/web", "--reason", "INC-12");
    const task = await reader.until(({ tasks }) => Object.values(tasks)[0]);
    expect(task).toMatchObject({ type: "hold", about: "deployment/web", reason: "INC-12" });
    const row = await reader.until(({ workloads }) =>
      workloads[id("web")]?.needsPerson ? workloads[id("web")] : undefined,
    );
    expect(row).toMatchObject({ state: "held", command: `wave release deployment/web -n ${namespace}` });
  });

  it("never take a command from the text of a person", async () => {
    const { ui: page, createWorkload, namespace, id } = await scene();
    await using ui = page;
    const annotations = { "wave.pusher.com/hold": "true", "wave.pusher.com/hold-reason": "Run: wave release $(id)" };
    await createWorkload("deployments/web", { annotations });
    const row = await ui.open().until(({ workloads }) => workloads[id("web")]);
    expect(row.message).toContain("$(id)");
    expect(row.command).toBe(`wave release deployment/web -n ${namespace}`);
  });

  it("stay right for a person who may not read Secrets or Deployments of Wave, with notes about it", async () => {
    const own = await startSandbox({ controllers: false });
    const cluster = commandScene(own, "shop");
    await cluster.createNamespace("shop");
    await cluster.createConfigMap("page", "1");
    await cluster.createWorkload("deployments/open");
    await cluster.createWorkload("deployments/closed", { envFrom: [{ secretRef: { name: "login" } }] });
    const forbidden = (path: string) => path.includes("/secrets") || path === "/apis/apps/v1/deployments";
    own.faults.add({ match: ({ path }) => forbidden(path), action: { type: "status", status: 403 } });
    await using ui = await testUi(["-n", "shop"], { ...cluster.env, ...atOnce });
    const reader = ui.open();
    const closed = await reader.until(({ workloads }) => workloads["sandbox/shop/deployment/closed"]);
    expect(closed).toMatchObject({ state: "unknown", because: "forbidden" });
    expect(reader.model?.workloads["sandbox/shop/deployment/open"]).toMatchObject({ state: "due" });
    const header = await reader.until(({ clusters }) => (clusters.sandbox?.doctor ? clusters.sandbox : undefined));
    expect(header).toMatchObject({ webhook: "unknown", notifications: "unknown" });
    expect(header.notes).toContainEqual(expect.stringContaining("Cannot read the flags of the running Wave"));
    await own.close();
  });

  it("stay when the cluster is lost, and are right again when it comes back", async () => {
    const own = await startSandbox({ controllers: false });
    const cluster = commandScene(own, "shop");
    await cluster.createNamespace("shop");
    await cluster.createConfigMap("page", "1");
    await cluster.createWorkload("deployments/web");
    await using ui = await testUi([], { ...cluster.env, ...atOnce });
    const reader = ui.open();
    await reader.until(({ workloads }) => workloads["sandbox/shop/deployment/web"]);
    const port = Number(new URL(own.url).port);
    own.faults.add({ match: ({ method }) => method === "GET", action: { type: "drop" } });
    own.dropConnections();
    const lost = await reader.until(({ clusters }) =>
      clusters.sandbox?.connection.state === "lost" ? clusters.sandbox : undefined,
    );
    expect(lost.connection.error).toContain(`127.0.0.1:${port}`);
    expect(Object.keys(reader.model?.workloads ?? {})).toEqual(["sandbox/shop/deployment/web"]);
    await cluster.createWorkload("deployments/api");
    own.faults.clear();
    await reader.until(({ workloads }) => workloads["sandbox/shop/deployment/api"]);
    await reader.until(({ clusters }) => (clusters.sandbox?.connection.state === "connected" ? true : undefined));
    await own.close();
  });
});
