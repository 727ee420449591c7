import { beforeEach, describe, expect, it } from "vitest";
import { type ApiServer, startApiServer } from "../../sandbox/requests/api-server.ts";
import { planRollout } from "../../test/support/domain/decisions.ts";
import { defaultPolicy, workload } from "../../test/support/domain/objects.ts";
import { memoryClient } from "../../test/support/memory-client.ts";
import { type ConfigObject, toConfig } from "../domain/config/digest.ts";
import type { Lookup } from "../domain/config/view-of-references.ts";
import type { Workload } from "../domain/model/workload-shape.ts";
import { type CopySize, copyLimits } from "../domain/pinning/collect.ts";
import { pinSources } from "../domain/pinning/pin-request.ts";
import { formatPins, parsePins } from "../domain/pinning/pinned-lookup.ts";
import { rulesFor } from "../domain/policy/rules.ts";
import { editedBy, unusedSince } from "../domain/references/annotations.ts";
import { ApiError } from "../kube/api/api-failure.ts";
import type { ApiRequest } from "../kube/http/api-request.ts";
import { storeCopies } from "./store-copies.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const policy = { ...defaultPolicy, pinConfig: true };
const uid = (index: number) => `00000000-0000-0000-0000-${`${index}`.padStart(12, "0")}`;

let server: ApiServer;
/** What the cache has. */
let cached: Map<string, ConfigObject>;
/** The copies that the cache counts. */
let known: readonly CopySize[];
/** Answers a request instead of the API server; undefined: the API server answers. */
let refuse: (request: ApiRequest) => ApiError | undefined;

const lookup: Lookup = (kind, _namespace, name) => {
  const object = kind === "ConfigMap" ? cached.get(name) : undefined;
  return object && toConfig("ConfigMap", object);
};

beforeEach(() => {
  server = startApiServer({ controllers: false });
  cached = new Map();
  refuse = () => undefined;
  known = [];
});

const direct = () => memoryClient(server);

/** Writes a ConfigMap, which the cache shows. */
async function put(name: string, data: Readonly<Record<string, string>>, more: object = {}): Promise<void> {
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name }, data, ...more };
  await direct()
    .request({ method: "DELETE", path: `${configMaps}/${name}` })
    .catch(() => undefined);
  cached.set(
    name,
    await direct().request<ConfigObject>({
      method: "POST",
      path: configMaps,
      query: { fieldManager: "kubectl-edit" },
      body,
    }),
  );
}

/** Shows all ConfigMaps to the cache. */
async function synchronize(): Promise<void> {
  const { items } = await direct().request<{ items: ConfigObject[] }>({ method: "GET", path: configMaps });
  cached = new Map(items.map((item) => [item.metadata?.name ?? "", item]));
}

const stored = (name: string) => direct().request<ConfigObject>({ method: "GET", path: `${configMaps}/${name}` });

/** Returns a pinned Deployment that reads keys as variables. */
function web(keys: Readonly<Record<string, string>>, more: { pinned?: string; rejected?: string; uid?: string } = {}) {
  const env = Object.entries(keys).map(([name, key], i) => ({
    name: `V${i}`,
    valueFrom: { configMapKeyRef: { name, key } },
  }));
  return workload({
    metadata: { uid: more.uid ?? uid(1) },
    annotations: { "wave.pusher.com/pin-config": "true", "wave.pusher.com/rejected-configmaps": more.rejected },
    templateAnnotations: more.pinned === undefined ? {} : { "wave.pusher.com/pinned": more.pinned },
    pod: { containers: [{ name: "web", env }] },
  });
}

async function store(of: Workload, isAlive = true, plannedBy = lookup) {
  const plan = planRollout(of, plannedBy, policy);
  const sources = "view" in plan ? (pinSources(of, plan.view, plannedBy, rulesFor(of, policy)) ?? []) : [];
  const client = memoryClient(server);
  const request = async <T>(sent: ApiRequest): Promise<T> => {
    const error = refuse(sent);
    if (error !== undefined) throw error;
    return client.request<T>(sent);
  };
  return await storeCopies(of, sources, {
    client: { request },
    lookup: plannedBy,
    isAlive: async () => isAlive,
    copiesIn: () => known,
  });
}

const pinsOf = (result: Awaited<ReturnType<typeof store>>) =>
  new Map("pinned" in result && result.pinned !== undefined ? parsePins(result.pinned) : []);

const apiError = (status: number, reason: string, serverMessage: string) =>
  new ApiError({ request: "POST", status, reason, serverMessage, details: undefined });

describe("storeCopies", () => {
  it("gives many workloads the same copy if all of them take it into use at the same time", async () => {
    await put("page", { a: "1" });
    const first = pinsOf(await store(web({ page: "a" })));
    const workloads = Array.from({ length: 8 }, (_, i) => web({ page: "a" }, { uid: uid(i + 2) }));
    const results = await Promise.all(workloads.map((each) => store(each)));
    for (const result of results) expect(pinsOf(result)).toEqual(first);
    expect((await stored(first.get("page") ?? "")).metadata?.ownerReferences).toHaveLength(9);
  });

  it("throws a conflict that does not end, so that the caller tries again later", async () => {
    await put("page", { a: "1" });
    await store(web({ page: "a" }));
    refuse = ({ method }) => (method === "PATCH" ? apiError(409, "Conflict", "conflict") : undefined);
    await expect(store(web({ page: "a" }, { uid: uid(2) }))).rejects.toThrow("conflict");
  });

  it("skips an optional name that no ConfigMap can have", async () => {
    await put("page", { a: "1" });
    const of = workload({
      annotations: { "wave.pusher.com/pin-config": "true" },
      pod: {
        containers: [{ name: "web" }],
        volumes: ["page", "..", "a/b", "Page"].map((name, i) => ({
          name: `v${i}`,
          configMap: { name, optional: true },
        })),
      },
    });
    expect([...pinsOf(await store(of)).keys()]).toEqual(["page"]);
  });
});

describe("storeCopies above the limit of a namespace", () => {
  const full = Array.from({ length: copyLimits.objects }, (_, i) => ({ name: `copy-${i}`, bytes: 1 }));

  it("stores no copy, and uses copies that exist", async () => {
    await put("page", { a: "1" });
    known = full.slice(1);
    const pins = pinsOf(await store(web({ page: "a" })));
    expect(pins.size).toBe(1);
    known = full;
    expect(pinsOf(await store(web({ page: "a" }, { uid: uid(2) })))).toEqual(pins);
    await put("page", { a: "2" });
    const result = await store(web({ page: "a" }));
    expect(result).toMatchObject({ type: "unpinned", message: expect.stringContaining("200 or 20 MiB") });
  });

  it("counts the copies that it stores itself, which the caches do not have yet", async () => {
    await put("page", { a: "1" });
    await put("other", { a: "1" });
    known = full.slice(1);
    expect(await store(web({ page: "a", other: "a" }))).toMatchObject({ type: "unpinned", pinned: undefined });
  });

  it("counts bytes", async () => {
    await put("page", { a: "1".repeat(1_000) });
    known = [{ name: "large", bytes: copyLimits.bytes - 1_000 }];
    expect(await store(web({ page: "a" }))).toMatchObject({ type: "unpinned" });
    known = [{ name: "large", bytes: copyLimits.bytes - 1_001 }];
    expect(await store(web({ page: "a" }))).toMatchObject({ type: "stored" });
  });
});

describe("storeCopies of content that is not live", () => {
  /** A Deployment that was rolled back to content 1 of `page`; `other` has changed since. */
  async function rolledBack() {
    await put("page", { a: "1" });
    await put("other", { a: "1" });
    const keys = { other: "a", page: "a" };
    const first = await store(web(keys));
    await synchronize();
    await put("page", { a: "2" });
    await put("other", { a: "2" });
    const pins = pinsOf(first);
    const of = web(keys, { pinned: formatPins(pins) });
    // The plan reads page as its copy.
    const copy = cached.get(pins.get("page") ?? "");
    const { isCopy: _, ...content } = toConfig("ConfigMap", copy ?? {});
    const held: Lookup = (kind, namespace, name) =>
      name === "page" ? { ...content, name } : lookup(kind, namespace, name);
    return { pins, of, held, copy: pins.get("page") ?? "" };
  }

  it("keeps its copy if the copy of another ConfigMap cannot be stored", async () => {
    const { pins, of, held } = await rolledBack();
    refuse = ({ method }) =>
      method === "POST" ? apiError(403, "Forbidden", 'configmaps "x" is forbidden: exceeded quota: q') : undefined;
    const result = await store(of, true, held);
    expect(result).toMatchObject({ type: "unpinned", message: expect.stringContaining("exceeded quota: q") });
    expect(pinsOf(result)).toEqual(new Map([["page", pins.get("page")]]));
  });

  it("keeps its copy also if the live content lacks only a key without which Pods cannot start", async () => {
    const copy = "page-0123456789";
    const labels = { "wave.pusher.com/pinned-copy": "true" };
    await put("page", { other: "1" });
    await put(copy, { a: "1" }, { metadata: { namespace: "default", name: copy, labels }, immutable: true });
    // The file of key a is not mounted, so the hash does not include it.
    const env = [{ name: "OTHER", valueFrom: { configMapKeyRef: { name: "other", key: "a" } } }];
    const volumeMounts = [{ name: "page", mountPath: "/page", subPath: "elsewhere" }];
    const of = workload({
      metadata: { uid: uid(1) },
      annotations: { "wave.pusher.com/pin-config": "true" },
      templateAnnotations: { "wave.pusher.com/pinned": `page=${copy}` },
      pod: {
        containers: [{ name: "web", env, volumeMounts }],
        volumes: [{ name: "page", configMap: { name: "page", items: [{ key: "a", path: "folder/a" }] } }],
      },
    });
    await put("other", { a: "2" });
    const { isCopy: _, ...content } = toConfig("ConfigMap", cached.get(copy) ?? {});
    const held: Lookup = (kind, namespace, name) =>
      name === "page" ? { ...content, name } : lookup(kind, namespace, name);
    refuse = ({ method }) => (method === "POST" ? apiError(403, "Forbidden", "exceeded quota") : undefined);
    const result = await store(of, true, held);
    expect(result).toMatchObject({ type: "unpinned", pinned: `page=${copy}` });
  });

  it("stores the content again if Kubernetes is about to delete its copy", async () => {
    const { of, held } = await rolledBack();
    const name = pinsOf(await store(of, false, held)).get("page") ?? "";
    expect(name).toMatch(/^page-[0-9a-f]{20}$/);
    expect(await stored(name)).toMatchObject({ immutable: true, data: { a: "1" } });
  });

  it("records who wrote the content, also if it stores the content of a copy again", async () => {
    const { of, held } = await rolledBack();
    const before = pinsOf(await store(of)).get("page") ?? "";
    const name = pinsOf(await store(of, false, held)).get("page") ?? "";
    expect(name).not.toBe(before);
    for (const each of [before, name])
      expect((await stored(each)).metadata?.annotations).toMatchObject({ [editedBy]: "kubectl-edit" });
  });
});

describe("storeCopies of a copy that is marked as unused, and that a policy does not let Wave change", () => {
  /** Returns pins whose copy is marked. */
  async function marked() {
    await put("page", { a: "1" });
    const pins = pinsOf(await store(web({ page: "a" })));
    const path = `${configMaps}/${pins.get("page")}`;
    const body = { metadata: { annotations: { [unusedSince]: "2026-01-01T00:00:00Z" } } };
    await direct().request({ method: "PATCH", path, contentType: "application/merge-patch+json", body });
    await synchronize();
    const denied =
      "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: s3cret";
    refuse = ({ method }) => (method === "PATCH" ? apiError(422, "Invalid", denied) : undefined);
    return pins;
  }

  it("pins nothing, because the collector may delete the copy before a pod template names it", async () => {
    const copy = (await marked()).get("page");
    expect(await store(web({ page: "a" }))).toEqual({
      type: "unpinned",
      pinned: undefined,
      message: `Not pinned: the stored copy "${copy}" cannot be used: Invalid (422). New Pods read live configuration.`,
    });
  });

  it("keeps the copy that the pod template names, which the collector does not delete", async () => {
    const pins = await marked();
    expect(pinsOf(await store(web({ page: "a" }, { pinned: formatPins(pins) })))).toEqual(pins);
  });
});

describe("the message about a refused copy", () => {
  it.each([
    [
      403,
      "Forbidden",
      'configmaps "x" is forbidden: exceeded quota: q, requested: count/configmaps=1',
      "exceeded quota: q",
    ],
    [403, "Forbidden", 'configmaps "x" is forbidden: ValidatingAdmissionPolicy: value s3cret', "Forbidden (403)"],
    [403, "Forbidden", 'User "system:serviceaccount:wave:wave" cannot create', "Forbidden (403)"],
    [422, "Invalid", "data: s3cret", "Invalid (422)"],
    [400, "", 'admission webhook "x" denied the request: s3cret', "status 400"],
  ])("of status %d has no text of an admission plugin", async (status, reason, message, expected) => {
    await put("page", { a: "1" });
    refuse = ({ method }) => (method === "POST" ? apiError(status, reason, message) : undefined);
    const result = await store(web({ page: "a" }));
    expect(result).toMatchObject({ type: "unpinned", message: expect.stringContaining(expected) });
    expect(JSON.stringify(result)).not.toMatch(/s3cret|serviceaccount/);
  });
});
