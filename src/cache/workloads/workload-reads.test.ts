import { beforeEach, expect, it } from "vitest";
import type { OwnerReference } from "#kubernetes";
import { type ApiServer, startApiServer } from "../../../sandbox/requests/api-server.ts";
import { workload } from "../../../test/support/domain/objects.ts";
import { memoryClient } from "../../../test/support/memory-client.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/api-types.ts";
import { type OwnerReads, ownerCheck } from "./workload-reads.ts";

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
