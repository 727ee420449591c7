import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { fetchClient } from "../../../test/support/fake-cluster.ts";
import { type ConfigObject, toConfig } from "../../domain/config/digest.ts";
import { parsePins } from "../../domain/pinning/pins.ts";
import type { Lookup } from "../../domain/plan/plan.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { createReviewer } from "./reviewer.ts";

const prefix = "wave.pusher.com/";
const hashName = `${prefix}config-hash`;
const pinnedName = `${prefix}pinned`;
const rejectedName = `${prefix}rejected-configmaps`;

type Annotations = Readonly<Record<string, string>>;

interface Web {
  readonly metadata: { readonly annotations?: Annotations };
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Annotations } } };
}

/** Returns a pinned Deployment that reads ConfigMaps `page` and `other`. */
function web(change: { image?: string; annotations?: Annotations; template?: Annotations } = {}): Web {
  const volume = (name: string) => ({ name, configMap: { name } });
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      namespace: "default",
      name: "web",
      annotations: {
        [`${prefix}update-on-config-change`]: "true",
        [`${prefix}pin-config`]: "true",
        ...change.annotations,
      },
    },
    spec: {
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" }, annotations: { ...change.template } },
        spec: {
          schedulerName: "default-scheduler",
          containers: [{ name: "web", image: change.image ?? "nginx:1" }],
          volumes: [volume("page"), volume("other")],
        },
      },
    },
  } as Web;
}

let api: ApiClient;
let close: () => Promise<void>;
const stored = new Map<string, ConfigObject>();

/** Reads ConfigMaps as a cache that is never behind. */
const cached: Lookup = (_kind, namespace, name) => {
  const object = stored.get(`${namespace}/${name}`);
  return object && toConfig("ConfigMap", object);
};

/** Returns a client of a sandbox that remembers each object that it writes. */
async function rememberingClient(): Promise<ApiClient> {
  const sandbox = await startSandbox({ controllers: false });
  close = () => sandbox.close();
  const client = fetchClient(sandbox.url);
  return {
    ...client,
    async request<T>(request: ApiRequest): Promise<T> {
      const answer = await client.request<T>(request);
      const object = answer as ConfigObject;
      if (request.method !== "GET") stored.set(`${object.metadata?.namespace}/${object.metadata?.name}`, object);
      return answer;
    },
  };
}

const configMaps = "/api/v1/namespaces/default/configmaps";
const create = (name: string, data: Annotations) =>
  api.request({ method: "POST", path: configMaps, body: { metadata: { namespace: "default", name }, data } });
const edit = (name: string, data: Annotations) =>
  api.request({
    method: "PATCH",
    path: `${configMaps}/${name}`,
    contentType: "application/merge-patch+json",
    body: { data },
  });

/** Sends a request through the webhook. Returns the object as it is stored afterwards, and the warnings. */
async function admit(object: Web, oldObject?: Web, dryRun = false) {
  const reviewer = createReviewer({
    client: api,
    policy: { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pinConfig: true },
    cached,
    isAlive: () => true,
    clock: new FakeClock(),
    log: silentLogger,
    metrics: new MetricsRegistry(),
  });
  const { patch, warnings } = await reviewer({
    uid: "u",
    operation: oldObject === undefined ? "CREATE" : "UPDATE",
    kind: { group: "apps", version: "v1", kind: "Deployment" },
    namespace: "default",
    name: "web",
    subResource: "",
    dryRun,
    object: object as unknown as Readonly<Record<string, unknown>>,
    oldObject: oldObject as unknown as Readonly<Record<string, unknown>>,
  });
  const copied = structuredClone(object) as never;
  const after = (patch ? applyJsonPatch(copied, structuredClone(patch) as never) : copied) as unknown as Web;
  const template = after.spec.template.metadata.annotations ?? {};
  return {
    after,
    warnings,
    template,
    hash: template[hashName],
    pins: template[pinnedName] === undefined ? undefined : parsePins(template[pinnedName]),
    rejected: after.metadata.annotations?.[rejectedName],
  };
}

const dataOf = (copy: string | undefined) =>
  (stored.get(`default/${copy}`) as { data?: Annotations } | undefined)?.data;
const templateOf = ({ spec }: Web) => spec.template.metadata.annotations ?? {};

beforeEach(async () => {
  api = await rememberingClient();
  stored.clear();
  await create("page", { index: "1" });
  await create("other", { a: "1" });
});

afterEach(() => close());

describe("the review of a pinned workload", () => {
  it("stores the copies before the first Pod, and nothing in a dry run", async () => {
    const objects = stored.size;
    await admit(web(), undefined, true);
    expect(stored.size).toBe(objects);
    const { pins, hash } = await admit(web());
    expect(hash).toMatch(/^v2:/);
    expect(dataOf(pins?.get("page"))).toEqual({ index: "1" });
    expect(dataOf(pins?.get("other"))).toEqual({ a: "1" });
  });

  it("changes nothing in a second review of its own result", async () => {
    const first = await admit(web());
    await edit("page", { index: "2" });
    const second = await admit(web({ image: "nginx:2", template: first.template }), first.after);
    const again = await admit(second.after, first.after);
    expect(again.after).toEqual(second.after);
  });

  it("gives a new template the live content", async () => {
    const first = await admit(web());
    await edit("page", { index: "2" });
    const { pins, warnings } = await admit(web({ image: "nginx:2", template: first.template }), first.after);
    expect(dataOf(pins?.get("page"))).toEqual({ index: "2" });
    expect(pins?.get("other")).toBe(first.pins?.get("other"));
    expect(warnings).toEqual([]);
  });

  it.for([
    ["hold", "true"],
    ["mode", "approve"],
  ])("keeps the copies of a new template with %s: %s, and says so", async ([name = "", value = ""]) => {
    const annotations = { [prefix + name]: value };
    const first = await admit(web({ annotations }));
    await edit("page", { index: "2" });
    const next = web({ image: "nginx:2", annotations, template: first.template });
    const { pins, hash, warnings } = await admit(next, first.after);
    expect([pins, hash]).toEqual([first.pins, first.hash]);
    expect(warnings).toEqual([expect.stringContaining('pinned content of ConfigMap "page"')]);
  });

  it("restores pins that a request without new Pods removes", async () => {
    const first = await admit(web());
    await edit("page", { index: "2" });
    const { pins, hash } = await admit(web(), first.after);
    expect([pins, hash]).toEqual([first.pins, first.hash]);
  });
});

describe("an undo", () => {
  /** A workload that rolled from content 1 to content 2 of `page`. */
  async function rolled() {
    const first = await admit(web());
    await edit("page", { index: "2" });
    const second = await admit(web({ image: "nginx:2", template: first.template }), first.after);
    return { first, second };
  }

  it("keeps the hash and the copies of the earlier revision, and rejects the live content", async () => {
    const { first, second } = await rolled();
    const { pins, hash, rejected, warnings } = await admit(web({ template: templateOf(first.after) }), second.after);
    expect([pins, hash]).toEqual([first.pins, first.hash]);
    expect(rejected).toMatch(/^page=[0-9a-f]{16}$/);
    expect(warnings).toEqual([expect.stringContaining('earlier content of ConfigMap "page"')]);
  });

  it("keeps what people wrote on the workload, which kubectl replaces", async () => {
    const { first, second } = await rolled();
    const held = { ...second.after, metadata: { ...second.after.metadata } };
    const annotations = { ...held.metadata.annotations, [`${prefix}hold`]: "true" };
    const before = { ...held, metadata: { ...held.metadata, annotations } };
    const { after } = await admit(web({ template: templateOf(first.after) }), before);
    expect(after.metadata.annotations).toMatchObject({ [`${prefix}hold`]: "true" });
  });

  it("rejects one ConfigMap, and lets the other advance", async () => {
    const { first, second } = await rolled();
    const undone = await admit(web({ template: templateOf(first.after) }), second.after);
    await edit("other", { a: "2" });
    const annotations = { [rejectedName]: undone.rejected ?? "" };
    const next = web({ image: "nginx:3", annotations, template: undone.template });
    const { pins } = await admit(next, undone.after);
    expect(dataOf(pins?.get("page"))).toEqual({ index: "1" });
    expect(dataOf(pins?.get("other"))).toEqual({ a: "2" });
  });

  it("to a revision whose copy is gone reads the live content, with a warning", async () => {
    const { first, second } = await rolled();
    stored.delete(`default/${first.pins?.get("page")}`);
    const { pins, rejected, warnings } = await admit(web({ template: templateOf(first.after) }), second.after);
    expect(pins).toEqual(second.pins);
    expect(rejected).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining("live configuration")]);
  });

  it("is not an old manifest that is applied", async () => {
    const { second } = await rolled();
    await edit("page", { index: "3" });
    const { pins, rejected } = await admit(web({ image: "nginx:1", template: second.template }), second.after);
    expect(dataOf(pins?.get("page"))).toEqual({ index: "3" });
    expect(rejected).toBeUndefined();
  });
});
