import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PodSpec } from "#kubernetes";
import { applyJsonPatch } from "../../../sandbox/patches/json-patch.ts";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { planRollout } from "../../../test/support/domain/decisions.ts";
import { defaultPolicy, unpaced } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { httpClient } from "../../../test/support/fake-cluster.ts";
import { type ConfigObject, toConfig } from "../../domain/config/digest.ts";
import type { Lookup } from "../../domain/config/view-of-references.ts";
import { kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { parsePins } from "../../domain/pinning/pinned-lookup.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { createReviewer } from "./reviewer.ts";

const prefix = "wave.pusher.com/";
const hashName = `${prefix}config-hash`;
const pinnedName = `${prefix}pinned`;
const rejectedName = `${prefix}rejected-configmaps`;

const pacing = { ...unpaced, maxConcurrent: 5, haltAfterFailures: 1 };

type Annotations = Readonly<Record<string, string>>;

interface Web {
  readonly metadata: { readonly annotations?: Annotations };
  readonly spec: {
    readonly template: { readonly metadata: { readonly annotations?: Annotations }; readonly spec?: PodSpec };
  };
}

interface Change {
  readonly image?: string;
  readonly annotations?: Annotations;
  readonly template?: Annotations;
  readonly container?: object;
  readonly volumes?: readonly object[];
}

/** Returns a pinned Deployment that reads ConfigMaps `page` and `other`. */
function web(change: Change = {}): Web {
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
          containers: [{ name: "web", image: change.image ?? "nginx:1", ...change.container }],
          volumes: change.volumes ?? [volume("page"), volume("other")],
        },
      },
    },
  } as unknown as Web;
}

/** Returns an object with other metadata. */
function withMetadata(object: Web, metadata: object): Web {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

let api: ApiClient;
/** The status with which the API server refuses a request; undefined: it answers. */
let refuse: (request: ApiRequest) => number | undefined;
/** Called after each read of ConfigMap `page`. */
let onRead: (() => Promise<unknown>) | undefined;
let clock: FakeClock;
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
  const client = httpClient(sandbox.url);
  return {
    ...client,
    async request<T>(request: ApiRequest): Promise<T> {
      const status = refuse(request);
      if (status !== undefined) {
        throw new ApiError({ request: "", status, reason: "Refused", serverMessage: "", details: undefined });
      }
      const answer = await client.request<T>(request);
      const object = answer as ConfigObject;
      if (request.method === "GET" && request.path.endsWith("/page")) await onRead?.();
      if (request.method !== "GET") stored.set(`${object.metadata?.namespace}/${object.metadata?.name}`, object);
      return answer;
    },
  };
}

const configMaps = "/api/v1/namespaces/default/configmaps";
const create = (name: string, data: Annotations) =>
  api.request({ method: "POST", path: configMaps, body: { metadata: { namespace: "default", name }, data } });
const edit = (name: string, data: Annotations, annotations: Annotations = {}) =>
  api.request({
    method: "PATCH",
    path: `${configMaps}/${name}`,
    contentType: "application/merge-patch+json",
    body: { metadata: { annotations }, data },
  });
const replace = (name: string, data: Annotations) =>
  api.request({
    method: "PUT",
    path: `${configMaps}/${name}`,
    body: { metadata: { namespace: "default", name }, data },
  });

/** Sends a request through the webhook. Returns the object as it is stored afterwards, and the warnings. */
async function admit(object: Web, oldObject?: Web, dryRun = false, others: readonly Workload[] = []) {
  const reviewer = createReviewer({
    client: api,
    policy: { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pinConfig: true, pacing },
    cached,
    workloadsReading: (config) => (config.endsWith("/page") ? others : []),
    newOwnerCheck: () => async () => true,
    clock,
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

/** Returns what the controller plans for a Deployment. */
const planned = (object: Web) =>
  planRollout(toWorkload(kinds.Deployment, object as never), cached, { ...defaultPolicy, pinConfig: true });

const dataOf = (copy: string | undefined) =>
  (stored.get(`default/${copy}`) as { data?: Annotations } | undefined)?.data;
const templateOf = ({ spec }: Web) => spec.template.metadata.annotations ?? {};

beforeEach(async () => {
  refuse = () => undefined;
  onRead = undefined;
  clock = new FakeClock();
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

  it("changes nothing in a second review that keeps one ConfigMap and advances another", async () => {
    const first = await admit(web());
    await edit("page", { index: "2" }, { [`${prefix}hold`]: "true" });
    await edit("other", { a: "2" });
    const second = await admit(web({ image: "nginx:2", template: first.template }), first.after);
    const again = await admit(second.after, first.after);
    expect(dataOf(again.pins?.get("page"))).toEqual({ index: "1" });
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

  it("keeps the copy of a ConfigMap whose change is halted, and gives a new template other live content", async () => {
    const first = await admit(web());
    await edit("page", { index: "2" });
    await edit("other", { a: "2" });
    const slim = (object: Web, name: string, change: Partial<Workload>): Workload => ({
      ...toWorkload(kinds.Deployment, withMetadata(object, { name }) as never),
      ...change,
    });
    const changedAt = cached("ConfigMap", "default", "page")?.changedAt ?? 0;
    clock.jumpWall((changedAt + 60) * 1000 - clock.wall());
    const { after: newest } = await admit(web());
    const others = [
      slim(newest, "canary", { rolledAt: changedAt, progress: { state: "failed" } }),
      slim(first.after, "web", { progress: { state: "complete", since: 1 } }),
    ];
    const next = web({ image: "nginx:2", template: first.template });
    const { pins, warnings, after } = await admit(next, first.after, false, others);
    expect(pins?.get("page")).toBe(first.pins?.get("page"));
    expect(dataOf(pins?.get("other"))).toEqual({ a: "2" });
    expect(warnings).toEqual([expect.stringContaining('pinned content of ConfigMap "page"')]);
    expect((await admit(after, first.after, false, others)).after).toEqual(after);
  });

  it("keeps the copies of a new template if an unapproved change removes a required key", async () => {
    const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key: "index" } } }];
    const annotations = { [`${prefix}mode`]: "approve" };
    const first = await admit(web({ annotations, container: { env } }));
    await replace("page", {});
    const next = web({ image: "nginx:2", annotations, template: first.template, container: { env } });
    const { pins, hash, after } = await admit(next, first.after);
    expect([pins, hash]).toEqual([first.pins, first.hash]);
    expect(after.spec.template.spec?.schedulerName).toBe("default-scheduler");
  });

  it.for([
    ["as variables", { envFrom: [{ configMapRef: { name: "page" } }] }],
    [
      "in another key",
      { env: [{ name: "B", valueFrom: { configMapKeyRef: { name: "page", key: "more", optional: true } } }] },
    ],
  ] as const)(
    "reads a held ConfigMap live if a new template reads it %s, which its copy lacks",
    async ([, container]) => {
      await replace("page", { index: "1", more: "1" });
      const annotations = { [`${prefix}hold`]: "true" };
      const volumes = [{ name: "page", configMap: { name: "page", items: [{ key: "index", path: "index" }] } }];
      const first = await admit(web({ annotations, volumes }));
      expect(dataOf(first.pins?.get("page"))).toEqual({ index: "1" });
      await edit("page", { index: "2" });
      const next = web({ annotations, volumes, container, template: first.template });
      const { pins, warnings } = await admit(next, first.after);
      expect(dataOf(pins?.get("page"))).toEqual({ index: "2", more: "1" });
      expect(warnings).toEqual([expect.stringContaining('live configuration of ConfigMap "page"')]);
    },
  );

  describe.for([
    ["observes", { [`${prefix}mode`]: "observe" }, {}],
    ["waits for a missing object", {}, { envFrom: [{ configMapRef: { name: "missing" } }] }],
  ] as const)("whose hash stays because it %s", ([, annotations, container]) => {
    const volumes = ["page", "other"].map((name) => ({
      name,
      configMap: { name, items: [{ key: name === "page" ? "index" : "a", path: "file" }] },
    }));
    const more = [{ name: "B", valueFrom: { configMapKeyRef: { name: "page", key: "more" } } }];

    /** Returns the Deployment before a request, whose copies have only the keys of its volumes. */
    async function pinned(): Promise<Awaited<ReturnType<typeof admit>>> {
      await replace("page", { index: "1", more: "1" });
      const first = await admit(web({ volumes }));
      await edit("page", { index: "2" });
      return first;
    }

    it.for([
      ["keeps the pins of the template before", true],
      ["leaves out the pins", false],
    ] as const)("reads a ConfigMap live if its copy lacks a key of a template that %s", async ([, keeps]) => {
      const { after, pins, template, hash } = await pinned();
      const kept = keeps ? { template } : {};
      const next = web({ annotations, volumes, container: { env: more, ...container }, ...kept });
      const changed = await admit(next, withMetadata(after, next.metadata));
      expect(changed.hash).toBe(hash);
      expect(changed.pins).toEqual(new Map([["other", pins?.get("other")]]));
      expect(changed.warnings).toContainEqual(expect.stringContaining('live configuration of ConfigMap "page"'));
      const again = await admit(changed.after, withMetadata(after, next.metadata));
      expect(again.after).toEqual(changed.after);
    });

    it("keeps each copy that has the keys of the new template", async () => {
      const { after, pins, template } = await pinned();
      const next = web({ image: "nginx:2", annotations, volumes, container, template });
      const changed = await admit(next, withMetadata(after, next.metadata));
      expect(changed.pins).toEqual(pins);
      expect(changed.warnings).not.toContainEqual(expect.stringContaining("live configuration"));
    });
  });

  it("hashes the live content of a held ConfigMap that is read live from now on", async () => {
    const held = { [`${prefix}hold`]: "true" };
    const first = await admit(web({ annotations: held }));
    await edit("page", { index: "2" });
    const annotations = { ...held, [`${prefix}live-configmaps`]: "page" };
    const live = await admit(web({ image: "nginx:2", annotations, template: first.template }), first.after);
    expect([...(live.pins?.keys() ?? [])]).toEqual(["other"]);
    expect(live.hash).not.toBe(first.hash);
  });

  it("keeps held content, and pins no other, if a copy cannot be stored", async () => {
    await edit("page", {}, { [`${prefix}hold`]: "true" });
    const first = await admit(web());
    await edit("page", { index: "2" });
    await edit("other", { a: "2" });
    refuse = ({ method }) => (method === "POST" ? 403 : undefined);
    const { pins, warnings } = await admit(web({ image: "nginx:2", template: first.template }), first.after);
    expect(pins).toEqual(new Map([["page", first.pins?.get("page")]]));
    expect(warnings).toContainEqual(expect.stringContaining("Not pinned completely"));
  });

  it("keeps the copies of a held change if the API server does not answer in time", async () => {
    const annotations = { [`${prefix}hold`]: "true" };
    const first = await admit(web({ annotations }));
    await edit("page", { index: "2" });
    refuse = ({ path }) => (path.endsWith(first.pins?.get("page") ?? "-") ? 504 : undefined);
    const { pins, hash } = await admit(web({ image: "nginx:2", annotations, template: first.template }), first.after);
    expect([pins, hash]).toEqual([first.pins, first.hash]);
  });

  it("is over before the API server stops waiting, if a ConfigMap keeps changing and reads are slow", async () => {
    const first = await admit(web());
    let reads = 0;
    onRead = async () => {
      reads += 1;
      await edit("page", { index: `changed ${reads}` });
      await clock.advance(1_500);
    };
    await edit("page", { index: "2" });
    const start = clock.monotonic();
    const { warnings } = await admit(web({ image: "nginx:2", template: first.template }), first.after);
    expect(clock.monotonic() - start).toBeLessThan(5_000);
    expect(warnings).toEqual([expect.stringContaining("keep changing")]);
  });

  it("finds a copy that the cache does not have yet", async () => {
    const annotations = { [`${prefix}hold`]: "true" };
    const first = await admit(web({ annotations }));
    await edit("page", { index: "2" });
    for (const copy of first.pins?.values() ?? []) stored.delete(`default/${copy}`);
    const { pins } = await admit(web({ image: "nginx:2", annotations, template: first.template }), first.after);
    expect(pins).toEqual(first.pins);
  });

  it("does not restore pins beside a hash that is not there", async () => {
    const forged = web({ template: { [pinnedName]: "page=page-0123456789" } });
    const { template } = await admit(web({ annotations: { [`${prefix}mode`]: "observe" } }), forged);
    expect(template).toEqual({});
  });

  it("lets people remove the pins of a workload that has opted out", async () => {
    const first = await admit(web());
    const annotations = { [`${prefix}update-on-config-change`]: "false" };
    const out = web({ annotations, template: first.template });
    const { template } = await admit(web({ annotations }), out);
    expect(template).toEqual({});
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

  it("keeps rejecting what an earlier undo rejected, although kubectl replaces the annotations", async () => {
    const first = await admit(web());
    await edit("other", { a: "2" });
    const second = await admit(web({ image: "nginx:2", template: first.template }), first.after);
    await edit("page", { index: "2" });
    const third = await admit(web({ image: "nginx:3", template: second.template }), second.after);
    const undone = await admit(web({ image: "nginx:2", template: second.template }), third.after);
    expect(undone.rejected).toMatch(/^page=/);
    const again = await admit(web({ template: first.template }), undone.after);
    expect([again.pins, again.hash]).toEqual([first.pins, first.hash]);
    expect(again.rejected).toMatch(/^other=[0-9a-f]{16},page=[0-9a-f]{16}$/);
  });

  it("takes the copies of the earlier revision into use before their collector deletes them", async () => {
    const { first, second } = await rolled();
    const copy = first.pins?.get("page") ?? "";
    await edit(copy, { index: "1" }, { [`${prefix}unused-since`]: "2026-01-01T00:00:00Z" });
    await admit(web({ template: templateOf(first.after) }), second.after);
    const { metadata } = await api.request<ConfigObject>({ method: "GET", path: `${configMaps}/${copy}` });
    expect(metadata?.annotations).not.toHaveProperty([`${prefix}unused-since`]);
  });

  it("is recorded although the API server does not answer when its copies are taken into use", async () => {
    const { first, second } = await rolled();
    refuse = ({ path }) => (path.endsWith(first.pins?.get("page") ?? "-") ? 504 : undefined);
    const { pins, rejected } = await admit(web({ template: templateOf(first.after) }), second.after);
    expect(pins).toEqual(first.pins);
    expect(rejected).toMatch(/^page=/);
  });

  it("keeps rejecting in an undo of the image alone, which replaces the annotations", async () => {
    const { first, second } = await rolled();
    const undone = await admit(web({ template: templateOf(first.after) }), second.after);
    const { pins, rejected } = await admit(web({ image: "nginx:0", template: undone.template }), undone.after);
    expect(pins).toEqual(first.pins);
    expect(rejected).toBe(undone.rejected);
  });

  it("rejects nothing more after a person removes the annotation", async () => {
    const { first, second } = await rolled();
    const undone = await admit(web({ template: templateOf(first.after) }), second.after);
    const resumed = await admit(web({ template: undone.template }), undone.after);
    expect([resumed.pins, resumed.hash]).toEqual([first.pins, first.hash]);
    expect(resumed.rejected).toBeUndefined();
  });

  it("rejects the same content if a new template reads fewer of its keys", async () => {
    await replace("page", { index: "1", more: "1" });
    const first = await admit(web());
    await replace("page", { index: "2", more: "2" });
    const second = await admit(web({ image: "nginx:2", template: first.template }), first.after);
    const undone = await admit(web({ template: first.template }), second.after);
    const volumes = [{ name: "page", configMap: { name: "page", items: [{ key: "index", path: "index" }] } }];
    const annotations = { [rejectedName]: undone.rejected ?? "" };
    const next = await admit(web({ annotations, volumes, template: undone.template }), undone.after);
    expect(dataOf(next.pins?.get("page"))).toMatchObject({ index: "1" });
    expect(next.rejected).toMatch(/^page=/);
    expect(next.rejected).not.toBe(undone.rejected);
  });

  it("no longer rejects content that another content replaced", async () => {
    const { first, second } = await rolled();
    const undone = await admit(web({ template: templateOf(first.after) }), second.after);
    await edit("page", { index: "3" });
    const annotations = { [rejectedName]: undone.rejected ?? "" };
    const next = await admit(web({ image: "nginx:3", annotations, template: undone.template }), undone.after);
    expect(dataOf(next.pins?.get("page"))).toEqual({ index: "3" });
    expect(next.rejected).toBeUndefined();
  });

  it("of the image alone keeps the hold, and brings no old rejection back", async () => {
    const { second } = await rolled();
    const { annotations } = second.after.metadata;
    const before = withMetadata(second.after, { annotations: { ...annotations, [`${prefix}hold`]: "true" } });
    const managedFields = [{ manager: "kubectl", operation: "Update", time: "2026-01-01T00:00:00Z" }];
    const old = web({
      image: "nginx:1",
      annotations: {
        [rejectedName]: "page=0123456789abcdef",
        [`${prefix}config-digests`]: annotations?.[`${prefix}config-digests`] ?? "",
      },
      template: second.template,
    });
    const undone = withMetadata(old, { ...old.metadata, managedFields });
    const { after } = await admit(undone, before);
    expect(after.metadata.annotations).toEqual(before.metadata.annotations);
    const patched = withMetadata(old, {
      ...old.metadata,
      managedFields: [{ ...managedFields[0], manager: "kubectl-edit" }],
    });
    expect((await admit(patched, before)).after.metadata.annotations).not.toHaveProperty([`${prefix}hold`]);
  });

  describe.for([
    ["a value that Pods read", { index: "2" }],
    ["a value that only an annotation names", { more: "2" }],
  ] as const)("of a ConfigMap that Pods read and that extra-configmaps names, after an edit of %s", ([, data]) => {
    const annotations = { [`${prefix}extra-configmaps`]: "page" };
    const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "page", key: "index" } } }];
    const extra = (change: Change = {}) => web({ annotations, container: { env }, volumes: [], ...change });

    it("keeps the hash and the copies of the earlier revision, as the controller does", async () => {
      await replace("page", { index: "1", more: "1" });
      const first = await admit(extra());
      await edit("page", data);
      const second = await admit(extra({ image: "nginx:2", template: first.template }), first.after);
      expect(second.hash).not.toBe(first.hash);
      const undone = await admit(extra({ template: templateOf(first.after) }), second.after);
      expect([undone.pins, undone.hash]).toEqual([first.pins, first.hash]);
      expect(undone.rejected).toMatch(/^page=/);
      expect(planned(undone.after).outcome).toBe("current");
    });
  });

  it("hashes and pins only what is not read live now", async () => {
    const { first, second } = await rolled();
    await edit("other", { a: "2" });
    const third = await admit(web({ image: "nginx:3", template: second.template }), second.after);
    const annotations = { [`${prefix}live-configmaps`]: "page" };
    const before = withMetadata(third.after, web({ annotations }).metadata);
    const undone = await admit(web({ annotations, template: first.template }), before);
    expect(undone.pins).toEqual(new Map([["other", first.pins?.get("other")]]));
    expect(planned(undone.after).outcome).toBe("current");
    expect((await admit(undone.after, before)).after).toEqual(undone.after);
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
    const copy = first.pins?.get("page");
    await api.request({ method: "DELETE", path: `${configMaps}/${copy}` });
    stored.delete(`default/${copy}`);
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
