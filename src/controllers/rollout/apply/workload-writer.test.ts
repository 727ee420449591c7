import { describe, expect, it, onTestFinished } from "vitest";
import { type FaultAction, startSandbox } from "../../../../sandbox/sandbox.ts";
import { defaultPolicy } from "../../../../test/support/domain/objects.ts";
import { httpClient, workload } from "../../../../test/support/fake-cluster.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import type { Workload } from "../../../domain/model/workload-shape.ts";
import { patchFor } from "../../../domain/patch/workload-patch.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../../../kube/api/api-failure.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { type Leadership, soleLeadership } from "../../../runtime/write-permits.ts";
import { writeFailure, writeWorkload } from "./workload-writer.ts";

const hash = `v2:${"a".repeat(64)}`;
const collection = "/apis/apps/v1/namespaces/default/deployments";

/** A Deployment `web` on a server, and a write of its hash with a response that the test defines. */
async function scene() {
  const sandbox = await startSandbox({ controllers: false });
  onTestFinished(() => sandbox.close());
  const client = httpClient(sandbox.url);
  await client.request({ method: "POST", path: collection, body: workload("web") });
  const read = async (): Promise<Workload> =>
    toWorkload(kinds.Deployment, await client.request({ method: "GET", path: `${collection}/web` }));
  const answer = (method: string, action: FaultAction) =>
    sandbox.faults.add({ match: (request) => request.method === method, action, times: 1 });
  const before = await read();
  const view = { hash, entries: [] };
  const patch = patchFor(before, { outcome: "firstHash", hash, view, reason: "", warnings: [] });
  if (patch === undefined) throw new Error("a first hash is written");
  const leadership = soleLeadership(new AbortController().signal);
  const write = (by: ApiClient = client, held: Leadership = leadership) =>
    writeWorkload(before, patch, { client: by, policy: defaultPolicy, leadership: held });
  const verbs = () => sandbox.requests.map(({ verb, status }) => `${verb} ${status}`).slice(2);
  return { sandbox, client, read, answer, write, verbs };
}

describe("a write", () => {
  it("returns the workload after the write", async () => {
    const { write, read, verbs } = await scene();
    const result = await write();
    expect(result).toEqual({ type: "written", after: await read() });
    expect(result).toMatchObject({ after: { recordedHash: hash } });
    expect(verbs()[0]).toBe("patch 200");
  });

  it("is stale, not refused, if the server gave up because the object kept changing, even if only the status changed", async () => {
    const { answer, write, read } = await scene();
    answer("PATCH", { type: "status", status: 409 });
    expect(await write()).toEqual({ type: "stale", newest: await read() });
  });

  it("is not sent if leadership ends while the connection is established", async () => {
    const { client, write, verbs } = await scene();
    const ended = new AbortController();
    const valid = () => {
      ended.abort();
      return false;
    };
    const connecting: ApiClient = {
      ...client,
      request: async (request) => {
        if (request.mayBeSent?.() === false) throw new Error("it may no longer be sent");
        return client.request(request);
      },
    };
    expect(await write(connecting, { stop: ended.signal, abort: ended.signal, valid })).toEqual({ type: "stopped" });
    expect(verbs()).toEqual([]);
  });

  it("that fails its tests is stale, and returns the current workload", async () => {
    const { client, write, read } = await scene();
    const contentType = "application/merge-patch+json";
    await client.request({ method: "PATCH", path: `${collection}/web`, contentType, body: { spec: { replicas: 3 } } });
    expect(await write()).toEqual({ type: "stale", newest: await read() });
  });

  it("that tests an annotation of a removed map of annotations is stale, not refused", async () => {
    const { client, read } = await scene();
    const before = await read();
    const path = `${collection}/web`;
    const annotations = { "wave.pusher.com/update-on-config-change": null };
    const contentType = "application/merge-patch+json";
    const body = { metadata: { annotations } };
    await client.request({ method: "PATCH", path, contentType, body });
    const patch = [{ op: "test", path: "/metadata/annotations/a", value: null } as const];
    const result = await writeWorkload(before, patch, {
      client,
      policy: defaultPolicy,
      leadership: soleLeadership(new AbortController().signal),
    });
    expect(result).toEqual({ type: "stale", newest: await read() });
  });

  it("is refused if the tests pass but the workload is invalid", async () => {
    const { answer, write } = await scene();
    answer("PATCH", { type: "status", status: 422 });
    expect(await write()).toMatchObject({ type: "refused" });
  });

  it.for([409, 422])(
    "answered with %d is gone if the workload does not exist when it is read again",
    async (status) => {
      const { client, answer, write } = await scene();
      answer("PATCH", { type: "status", status });
      await client.request({ method: "DELETE", path: `${collection}/web` });
      expect(await write()).toEqual({ type: "gone" });
    },
  );

  it.for([409, 422])("answered with %d stays unknown while the workload cannot be read", async (status) => {
    const { answer, write } = await scene();
    answer("PATCH", { type: "status", status });
    answer("GET", { type: "status", status: 503, retryAfterSeconds: 4 });
    expect(await write()).toMatchObject({ type: "unavailable", retryAfterMs: 4_000, uncertain: false });
  });

  it("without permission to patch names the missing permission", async () => {
    const { write } = await scene();
    const serverMessage = 'deployments.apps "web" is forbidden: User "w" cannot patch resource "deployments"';
    const forbidden: ApiClient = {
      request: () =>
        Promise.reject(new ApiError({ request: "patch", status: 403, reason: "Forbidden", serverMessage })),
      stream: () => Promise.reject(new Error("nothing is watched")),
      close: async () => {},
    };
    expect(await write(forbidden)).toMatchObject({
      type: "refused",
      message: expect.stringContaining(
        'Grant patch on deployments.apps in namespace "default" to the service account of Wave',
      ),
    });
  });

  it("rejects with an error that is no response of a server, which is a bug", async () => {
    const { client, write } = await scene();
    const bug = new TypeError("not a server's");
    await expect(write({ ...client, request: () => Promise.reject(bug) })).rejects.toBe(bug);
  });
});

const { metadata, spec } = workload("web");
const web = toWorkload(kinds.StatefulSet, { metadata: { ...metadata, namespace: "shop" }, spec });

const answer = (status: number, serverMessage: string, more: Partial<ApiError> = {}) =>
  new ApiError({ request: "patch statefulsets/web in shop", status, reason: "Reason", serverMessage, ...more });

describe("a failed write", () => {
  it("names the missing permission", () => {
    const refused = answer(
      403,
      'statefulsets.apps "web" is forbidden: User "system:serviceaccount:batch:wave" cannot patch resource "statefulsets" in API group "apps" in the namespace "shop"',
    );
    expect(writeFailure(refused, web)).toEqual({
      type: "refused",
      message:
        'Cannot write the hash: forbidden. Grant patch on statefulsets.apps in namespace "shop" to the service account of Wave with a Role.',
    });
  });

  it("shows the message of an admission webhook on one line", () => {
    const refused = answer(403, 'admission webhook "guard" denied the request:\n  not on a Friday');
    expect(writeFailure(refused, web)).toEqual({
      type: "refused",
      message:
        'Cannot write the hash: the API server refused the write: admission webhook "guard" denied the request: not on a Friday',
    });
  });

  it("names the invalid fields, but not their values, which may be passwords", () => {
    const message = 'StatefulSet.apps "web" is invalid: spec.template.spec.containers[0].env[0].value: "hunter2"';
    const causes = [
      { field: "spec.template.spec.containers[0].env[0].value", reason: "FieldValueInvalid", message: '"hunter2"' },
    ];
    const failure = writeFailure(answer(422, message, { details: { causes } }), web);
    expect(failure).toEqual({
      type: "stale",
      refusal:
        "Cannot write the hash: the API server refused the write: spec.template.spec.containers[0].env[0].value (FieldValueInvalid)",
    });
  });

  it.for([
    { what: answer(404, "not found"), means: { type: "gone" } },
    { what: answer(409, "conflict"), means: { type: "stale", refusal: undefined } },
    {
      what: answer(500, 'Internal error occurred: failed calling webhook "guard.example": timeout'),
      means: { type: "refused" },
    },
    { what: answer(503, 'admission webhook "guard" denied the request: later'), means: { type: "refused" } },
    {
      what: answer(500, "etcdserver: request timed out", { reason: "" }),
      means: { type: "unavailable", retryAfterMs: 0, uncertain: true },
    },
    {
      what: answer(500, "rpc error: code = Unavailable desc = etcdserver: leader changed", { reason: "" }),
      means: { type: "unavailable", uncertain: true },
    },
    { what: answer(408, "a proxy's page", { reason: "" }), means: { type: "unavailable", uncertain: true } },
    { what: answer(502, "a proxy's page", { reason: "" }), means: { type: "unavailable", uncertain: true } },
    { what: answer(503, "a proxy's page", { reason: "" }), means: { type: "unavailable", uncertain: true } },
    { what: answer(404, "a proxy's page", { reason: "" }), means: { type: "unavailable", uncertain: true } },
    { what: answer(403, "a proxy's page", { reason: "" }), means: { type: "unavailable", uncertain: true } },
    { what: answer(401, "who are you"), means: { type: "unavailable", uncertain: false } },
    {
      what: answer(429, "tomorrow", { retryAfterMs: 86_400_000 }),
      means: { type: "unavailable", retryAfterMs: 300_000, uncertain: false },
    },
    {
      what: new ClusterConfigError("users[dev].user.exec: credential plugin aws failed: exit code 1"),
      means: {
        type: "unavailable",
        message: "users[dev].user.exec: credential plugin aws failed: exit code 1",
        retryAfterMs: 0,
        uncertain: false,
      },
    },
    {
      what: answer(429, "later", { retryAfterMs: 7_000 }),
      means: { type: "unavailable", retryAfterMs: 7_000, uncertain: false },
    },
    { what: answer(503, "no etcd"), means: { type: "unavailable", retryAfterMs: 0, uncertain: false } },
    { what: answer(504, "timed out"), means: { type: "unavailable", uncertain: true } },
    { what: new ConnectionError("broken"), means: { type: "unavailable", retryAfterMs: 0, uncertain: true } },
  ])("is classified by the response: $what.message", ({ what, means }) => {
    expect(writeFailure(what, web)).toMatchObject(means);
  });

  it("is a bug if the error is not from a server", () => {
    const bug = new TypeError("undefined is not a function");
    expect(() => writeFailure(bug, web)).toThrow(bug);
  });
});
