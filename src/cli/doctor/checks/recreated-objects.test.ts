import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { ApiError } from "../../../kube/api/api-failure.ts";
import type { ApiClient } from "../../../kube/http/client.ts";
import { readSecretMakers } from "./recreated-objects.ts";

/** Returns a client for an API server that serves ExternalSecrets in one version, but no SecretProviderClasses. */
function clientWith(items: readonly object[], status = 200): ApiClient {
  const answers: Readonly<Record<string, unknown>> = {
    "/apis/external-secrets.io": { versions: [{ version: "v1beta1" }] },
    "/apis/external-secrets.io/v1beta1": {
      resources: [{ name: "externalsecrets", kind: "ExternalSecret", namespaced: true }],
    },
  };
  const failure = (code: number, reason = "") =>
    new ApiError({ request: "get", status: code, reason, serverMessage: "" });
  return {
    request: async <T>({ path }: { readonly path: string }) => {
      if (answers[path] === undefined) throw failure(404, "NotFound");
      return answers[path] as T;
    },
    stream: async ({ path }) => {
      if (status !== 200) throw failure(status);
      expect(path).toBe("/apis/external-secrets.io/v1beta1/namespaces/shop/externalsecrets");
      return Readable.from([Buffer.from(JSON.stringify({ metadata: { resourceVersion: "1" }, items }))]);
    },
    close: async () => {},
  };
}

it("an ExternalSecret makes the Secret that its target names, otherwise the one with its own name", async () => {
  const metadata = (name: string) => ({ name, namespace: "shop" });
  const named = { metadata: metadata("database"), spec: { target: { name: "db" } } };
  const makerOf = await readSecretMakers(clientWith([named, { metadata: metadata("mail") }]), ["shop", "shop"]);
  const resource = "externalsecrets.external-secrets.io";
  expect(makerOf("shop", "db")).toEqual({ resource, name: "database" });
  expect(makerOf("shop", "mail")).toEqual({ resource, name: "mail" });
  expect(makerOf("shop", "database")).toBeUndefined();
});

it("what makes a Secret is unknown if it cannot be listed", async () => {
  const makerOf = await readSecretMakers(clientWith([], 403), ["shop"]);
  expect([makerOf("shop", "db"), makerOf("elsewhere", "db")]).toEqual(["unknown", undefined]);
});
