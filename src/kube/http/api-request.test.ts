import { expect, it } from "vitest";
import { type ApiRequest, requestInfo } from "./api-request.ts";

const deployments = "/apis/apps/v1/namespaces/default/deployments";

const cases: readonly [
  method: ApiRequest["method"],
  path: string,
  query: ApiRequest["query"],
  verb: string,
  text: string,
][] = [
  ["GET", "/api/v1/secrets", {}, "list", "list secrets"],
  ["GET", "/api/v1/secrets", { limit: 100, continue: undefined }, "list", "list secrets"],
  ["GET", "/api/v1/secrets", { watch: true }, "watch", "watch secrets"],
  ["GET", "/api/v1/secrets", { watch: "false" }, "list", "list secrets"],
  ["GET", "/api/v1/namespaces/a/secrets", { watch: 1 }, "watch", "watch secrets in a"],
  ["GET", "/api/v1/namespaces/a/secrets/b", {}, "get", "get secrets/b in a"],
  ["GET", "/api/v1/namespaces", {}, "list", "list namespaces"],
  ["GET", "/api/v1/namespaces/a", {}, "get", "get namespaces/a"],
  ["POST", deployments, {}, "create", "create deployments in default"],
  ["PUT", `${deployments}/web`, {}, "update", "update deployments/web in default"],
  ["PATCH", `${deployments}/web`, {}, "patch", "patch deployments/web in default"],
  ["PATCH", `${deployments}/web/scale`, {}, "patch", "patch deployments/web/scale in default"],
  ["DELETE", `${deployments}/web`, {}, "delete", "delete deployments/web in default"],
  ["DELETE", deployments, {}, "deletecollection", "deletecollection deployments in default"],
  [
    "PATCH",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/wave",
    {},
    "patch",
    "patch mutatingwebhookconfigurations/wave",
  ],
  ["GET", "/version", {}, "get", "get /version"],
  ["GET", "/apis/apps/v1", {}, "get", "get /apis/apps/v1"],
];

it.each(cases)("%s %s %o is %s for RBAC and metrics, %s for a person", (method, path, query, verb, text) => {
  expect(requestInfo({ method, path, ...(query && { query }) })).toMatchObject({ verb, text });
});
