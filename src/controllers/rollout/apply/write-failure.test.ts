import { describe, expect, it } from "vitest";
import { workload } from "../../../../test/support/fake-cluster.ts";
import { kinds } from "../../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../../domain/model/workload.ts";
import { ApiError, ClusterConfigError, ConnectionError } from "../../../kube/api/api-failure.ts";
import { writeFailure } from "./write-failure.ts";

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
      type: "staleOrRefused",
      message:
        "Cannot write the hash: the API server refused the write: spec.template.spec.containers[0].env[0].value (FieldValueInvalid)",
    });
  });

  it.for([
    { what: answer(404, "not found"), means: { type: "gone" } },
    { what: answer(409, "conflict"), means: { type: "stale" } },
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
