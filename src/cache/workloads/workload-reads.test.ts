import { beforeEach, describe, expect, it } from "vitest";
import type { OwnerReference } from "#kubernetes";
import { type ApiServer, startApiServer } from "../../../sandbox/requests/api-server.ts";
import { workload, workloadObject } from "../../../test/support/domain/objects.ts";
import { memoryClient } from "../../../test/support/memory-client.ts";
import { parseRequestedKind, type RequestedKind } from "../../domain/model/kinds/requested-kind.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { findKind, type OwnerReads, ownerCheck } from "./workload-reads.ts";

const deployments = "/apis/apps/v1/namespaces/default/deployments";
let server: ApiServer;
let owner: OwnerReference;

beforeEach(async () => {
  server = startApiServer({ controllers: false });
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web" }] } };
  const { metadata } = await memoryClient(server).request<KubeObject>({
    method: "POST",
    path: deployments,
    body: { metadata: { name: "web" }, spec: { selector: { matchLabels: { app: "web" } }, template } },
  });
  owner = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: metadata.uid ?? "" };
});

/** Reports whether the owner is alive for caches with these workloads. */
function isAlive(of: OwnerReference, cached?: Workload, reads: Partial<OwnerReads> = {}): Promise<boolean> {
  return ownerCheck({ client: memoryClient(server), workload: () => cached, ...reads })(of, "default");
}

it("reads an owner that the caches do not have, such as one that has not opted in", async () => {
  expect(await isAlive(owner)).toBe(true);
  expect(await isAlive({ ...owner, uid: "another" })).toBe(false);
  await memoryClient(server).request({ method: "DELETE", path: `${deployments}/web` });
  expect(await isAlive(owner)).toBe(false);
});

it("does not read an owner that the caches have", async () => {
  const refused = { client: { request: () => Promise.reject(new Error("a request")) } };
  const cached = workload({ metadata: { uid: owner.uid } });
  expect(await isAlive(owner, cached, refused)).toBe(true);
  expect(await isAlive(owner, { ...cached, deleting: true }, refused)).toBe(false);
  expect(await isAlive({ ...owner, kind: "Widget" }, undefined, refused)).toBe(false);
});

it("reads each owner once, and twenty at most", async () => {
  const requests: (string | undefined)[] = [];
  const check = ownerCheck({
    client: memoryClient(server, async ({ path }) => void requests.push(path)),
    workload: () => undefined,
  });
  for (let times = 0; times < 2; times++) {
    for (let index = 0; index < 30; index++)
      expect(await check({ ...owner, name: `gone-${index}` }, "default")).toBe(false);
  }
  expect(requests).toHaveLength(20);
  expect(await check(owner, "default")).toBe(false);
});

it("takes an owner that it cannot read as gone, and throws if the API server does not answer", async () => {
  const answers = (status: number, reason: string) => ({
    client: {
      request: () =>
        Promise.reject(new ApiError({ request: "GET", status, reason, serverMessage: "", details: undefined })),
    },
  });
  expect(await isAlive(owner, undefined, answers(403, "Forbidden"))).toBe(false);
  expect(await isAlive({ ...owner, name: "a%b" }, undefined, answers(400, "BadRequest"))).toBe(false);
  await expect(isAlive(owner, undefined, answers(503, "ServiceUnavailable"))).rejects.toThrow("503");
});

const wanted = parseRequestedKind("example.com/v1/widgets") as RequestedKind;
const counts = ["observedGeneration", "replicas", "updatedReplicas", "availableReplicas"];

/** An API server with Widgets that publishes their definition after a number of requests. */
function serving(fields: readonly string[] | undefined, from = 1) {
  const asked: string[] = [];
  const properties = fields && Object.fromEntries(fields.map((name) => [name, { type: "integer" }]));
  const status = { type: "object", ...(properties && { properties }) };
  const kind = { group: "example.com", version: "v1", kind: "Widget" };
  const widget = { properties: { status }, "x-kubernetes-group-version-kind": [kind] };
  const schemas = { "com.example.v1.Widget": widget, "io.k8s.Status": {} };
  const request = async ({ path }: { readonly path: string }) => {
    asked.push(path);
    if (path === "/apis/example.com/v1") return { resources: [{ name: "widgets", kind: "Widget", namespaced: true }] };
    const times = asked.filter((each) => each === path).length;
    if (path === "/openapi/v3/apis/example.com/v1" && times >= from) return { components: { schemas } };
    throw new ApiError({ request: path, status: 404, reason: "NotFound", serverMessage: "" });
  };
  return { asked, client: { request } as unknown as Pick<ApiClient, "request"> };
}

/** The progress of a Widget with three desired Pods whose controller omits status fields that are 0. */
async function progressOf({ client }: ReturnType<typeof serving>, status: object, pause = async () => {}) {
  const row = await findKind(client, wanted, { pause });
  return row?.progress(workloadObject({ spec: { replicas: 3 }, status: { ...status } })).state;
}

describe("a kind of which only the definition is known", () => {
  it("is not complete while its controller leaves out the numbers that are 0", async () => {
    const api = serving(counts);
    expect(await progressOf(api, {})).toBe("progressing");
    expect(await progressOf(api, { observedGeneration: 3, replicas: 3 })).toBe("progressing");
    expect(await progressOf(api, { observedGeneration: 3, replicas: 3, updatedReplicas: 3 })).toBe("progressing");
    const complete = { observedGeneration: 3, replicas: 3, updatedReplicas: 3, availableReplicas: 3 };
    expect(await progressOf(api, complete)).toBe("complete");
    expect(await progressOf(api, { ...complete, replicas: 4 })).toBe("progressing");
  });

  it("is complete without the status fields that its schema lacks", async () => {
    const few = serving(["observedGeneration", "readyReplicas"]);
    expect(await progressOf(few, { observedGeneration: 3, readyReplicas: 3 })).toBe("complete");
    expect(await progressOf(few, { observedGeneration: 3 })).toBe("progressing");
    expect(await progressOf(serving(undefined), {})).toBe("complete");
  });

  it("is requested again for a while if its schema is not published yet, and used without it after that", async () => {
    let pauses = 0;
    const pause = async () => {
      pauses++;
    };
    expect(await progressOf(serving(counts, 3), {}, pause)).toBe("progressing");
    expect(pauses).toBe(2);
    expect(await progressOf(serving(counts, 4), {}, pause)).toBe("complete");
  });

  it("requests the schema once for any number of checks", async () => {
    const { client, asked } = serving(counts);
    const before = await findKind(client, wanted);
    expect(await findKind(client, wanted, { before })).toBe(before);
    expect(asked.filter((path) => path.startsWith("/openapi"))).toHaveLength(1);
  });
});
