import { expect, it, onTestFinished } from "vitest";
import { type KubeObject, type Resource, resourcePath, resources } from "../../src/kube/api/resources.ts";
import { bearer, fixedCredentials, unchanging } from "../../src/kube/config/credentials.ts";
import { type ApiClient, createApiClient } from "../../src/kube/http/client.ts";
import { listWatch } from "../../src/kube/list-watch/list-watch.ts";
import { type ListWatchOptions, pagedList, type ReflectorEvent } from "../../src/kube/list-watch/paged-list.ts";
import { watchFrom } from "../../src/kube/list-watch/watch-stream.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { describeApiServers, eventually, type Target } from "./targets.ts";

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Returns Wave's own client, as from a kubeconfig. */
function clientOf({ access }: Target): ApiClient {
  const client = createApiClient({
    config: {
      server: access.server,
      source: "a test",
      tls: unchanging({ insecure: false, ...(access.ca !== undefined && { ca: access.ca }) }),
      credentials: fixedCredentials(access.token === undefined ? {} : bearer(access.token)),
    },
    clock: systemClock,
    metrics: new MetricsRegistry(),
    userAgent: "wave/conformance",
  });
  onTestFinished(() => client.close());
  return client;
}

function contextOf(target: Target, client: ApiClient, resource: Resource = resources.configMaps) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return {
    client,
    resource,
    namespace: target.namespaceName,
    clock: systemClock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    random: Math.random,
    signal: stop.signal,
    what: resource.plural,
    path: resourcePath(resource, { namespace: target.namespaceName }),
  };
}

/** The objects that a reflector would hold, by name, and the number of its restarts. */
function follow(options: ListWatchOptions) {
  const held = new Map<string, ConfigMap>();
  const told: ReflectorEvent<ConfigMap>["type"][] = [];
  const running = (async () => {
    let listed = new Set<string>();
    for await (const event of listWatch<ConfigMap>(options)) {
      told.push(event.type);
      if (event.type === "init") listed = new Set();
      else if (event.type === "initDone") {
        for (const name of held.keys()) if (!listed.has(name)) held.delete(name);
      } else if (event.type === "delete") held.delete(event.object.metadata.name);
      else if (event.type !== "initFailed") {
        listed.add(event.object.metadata.name);
        held.set(event.object.metadata.name, event.object);
      }
    }
  })();
  return { held, told, running, count: (type: string) => told.filter((each) => each === type).length };
}

describeApiServers("Wave's own client", (target) => {
  const path = () => resourcePath(resources.configMaps, { namespace: target().namespaceName });
  const write = (client: ApiClient, name: string, data: object = {}) =>
    client.request<ConfigMap>({ method: "POST", path: path(), body: { metadata: { name }, data } });
  const remove = (client: ApiClient, name: string) =>
    client.request({ method: "DELETE", path: `${path()}/${name}`, body: { propagationPolicy: "Background" } });

  it("lists existing objects, then follows each write, and ends with its signal", async () => {
    const client = clientOf(target());
    await write(client, "there", { a: "1" });
    const stop = new AbortController();
    const { held, count, running } = follow({ ...contextOf(target(), client), signal: stop.signal });
    await eventually(async () => count("initDone") === 1);
    expect(held.get("there")?.data).toEqual({ a: "1" });
    await write(client, "new", { b: "2" });
    await client.request({ method: "PATCH", path: `${path()}/there`, body: { data: { a: "3" } } });
    await eventually(async () => held.get("new") !== undefined && held.get("there")?.data?.a === "3");
    await remove(client, "new");
    await eventually(async () => !held.has("new"));
    expect([count("init"), count("delete")]).toEqual([1, 1]);
    stop.abort();
    await running;
  });

  it("resumes a stream that the server ended at the same position, and reports no event twice", async () => {
    const client = clientOf(target());
    // The shortest stream that a client requests, so that it ends during the test.
    const short = withTimeout(client, 1);
    const { held, told, count } = follow({ ...contextOf(target(), short.client), random: () => 0 });
    await eventually(async () => count("initDone") === 1);
    const before = told.length;
    await eventually(async () => short.streams() > 2);
    await write(client, "between");
    await eventually(async () => held.has("between"));
    expect(told.slice(before)).toEqual(["apply"]);
  });

  it("lists in pages, and a watch continues from that list", async () => {
    const client = clientOf(target());
    const names = Array.from({ length: 230 }, (_, index) => `page-${index}`);
    for (let start = 0; start < names.length; start += 46) {
      await Promise.all(names.slice(start, start + 46).map((name) => write(client, name)));
    }
    const context = contextOf(target(), client);
    const listed: string[] = [];
    const pages = pagedList<ConfigMap>(context);
    let step = await pages.next();
    for (; !step.done; step = await pages.next()) {
      if (step.value.type === "initApply") listed.push(step.value.object.metadata.name);
    }
    expect(listed).toEqual(expect.arrayContaining(names));
    expect(new Set(listed).size).toBe(listed.length);
    await write(client, "after");
    for await (const { event } of watchFrom<ConfigMap>(context, step.value)) {
      expect(event).toMatchObject({ type: "apply", object: { metadata: { name: "after" } } });
      break;
    }
  });

  it("reports a resourceVersion that the server no longer has as 410", async () => {
    const { path: lost, resourceVersion } = await target().expired();
    const context = { ...contextOf(target(), clientOf(target())), path: lost };
    const first = watchFrom(context, resourceVersion).next();
    await expect(first).rejects.toMatchObject({ name: "ApiError", status: 410, reason: "Expired" });
  });

  it("sends no Secret of a type that the field selector excludes", async () => {
    const client = clientOf(target());
    const secrets = resourcePath(resources.secrets, { namespace: target().namespaceName });
    for (const [name, type] of [
      ["release", "helm.sh/release.v1"],
      ["password", "Opaque"],
    ]) {
      await client.request({ method: "POST", path: secrets, body: { metadata: { name }, type } });
    }
    const context = contextOf(target(), client, resources.secrets);
    const { held, count } = follow({ ...context, fieldSelector: "type!=helm.sh/release.v1" });
    await eventually(async () => count("initDone") === 1);
    expect([...held.keys()]).toContain("password");
    expect([...held.keys()]).not.toContain("release");
  });

  it("reports failures with the message of the API server", async () => {
    const client = clientOf(target());
    const missing = client.request({ method: "GET", path: `${path()}/missing` });
    await expect(missing).rejects.toMatchObject({
      message: `get configmaps/missing in ${target().namespaceName}: 404 NotFound: configmaps "missing" not found`,
      details: { name: "missing", kind: "configmaps" },
    });
    await write(client, "twice");
    await expect(write(client, "twice")).rejects.toMatchObject({ status: 409, reason: "AlreadyExists" });
    const patch = [{ op: "test", path: "/metadata/uid", value: "another" }];
    const failed = client.request({ method: "PATCH", path: `${path()}/twice`, body: patch });
    await expect(failed).rejects.toMatchObject({ status: 422, reason: "Invalid" });
  });

  it("sends the body of a DELETE: a precondition has its effect", async () => {
    const client = clientOf(target());
    await write(client, "kept");
    const body = { preconditions: { uid: "another" } };
    const refused = client.request({ method: "DELETE", path: `${path()}/kept`, body });
    await expect(refused).rejects.toMatchObject({ status: 409, reason: "Conflict" });
    expect(await client.request({ method: "GET", path: `${path()}/kept` })).toMatchObject({
      metadata: { name: "kept" },
    });
  });

  it("runs many watches and short requests at the same time", async () => {
    const client = clientOf(target());
    const streams = await Promise.all(
      Array.from({ length: 150 }, () => client.stream({ method: "GET", path: path(), query: { watch: true } })),
    );
    await Promise.all(Array.from({ length: 150 }, () => client.request({ method: "GET", path: path() })));
    for (const stream of streams) await stream[Symbol.asyncDispose]();
  });
});

/** Returns a client whose watches the server ends after this many seconds, and counts the watches. */
function withTimeout(client: ApiClient, timeoutSeconds: number) {
  let streams = 0;
  const stream: ApiClient["stream"] = (request) => {
    streams++;
    return client.stream({ ...request, query: { ...request.query, timeoutSeconds } });
  };
  return { client: { ...client, stream }, streams: () => streams };
}
