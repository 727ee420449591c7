import { expect, it } from "vitest";
import { startApiServer } from "../../../sandbox/requests/api-server.ts";
import { workload } from "../../../test/support/domain/objects.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { workload as storedWorkload } from "../../../test/support/fake-cluster.ts";
import { memoryClient } from "../../../test/support/memory-client.ts";
import { builtInKinds } from "../../domain/model/kinds/apps-kinds.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { createPodLists } from "./listed-pods.ts";

/** An API server with Pods of StatefulSets, and what lists them. `fails`: the status of each list. */
function scene(fails?: number) {
  const clock = new FakeClock();
  const server = startApiServer({ controllers: false, clock });
  let lists = 0;
  const client = memoryClient(server, async ({ method }) => {
    if (method !== "GET") return;
    lists++;
    if (fails !== undefined)
      throw new ApiError({ request: "", status: fails, reason: fails === 403 ? "Forbidden" : "", serverMessage: "" });
  });
  const { signal } = new AbortController();
  const caches = { kinds: () => builtInKinds };
  const pods = createPodLists({ client, caches, clock, log: silentLogger, signal });
  const path = "/api/v1/namespaces/default/pods";
  const owners = "/apis/apps/v1/namespaces/default/statefulsets";
  const owner = client.request<KubeObject>({ method: "POST", path: owners, body: storedWorkload("a") });
  const create = async (name: string, metadata: object = {}): Promise<number> => {
    const { uid } = (await owner).metadata;
    const controller = { apiVersion: "apps/v1", kind: "StatefulSet", name: "a", uid, controller: true };
    const spec = { containers: [{ name: "main", image: "nginx" }], nodeName: "a" };
    const body = { metadata: { name, ownerReferences: [controller], ...metadata }, spec };
    const made = await client.request<{ metadata: { resourceVersion: string } }>({ method: "POST", path, body });
    return Number(made.metadata.resourceVersion);
  };
  const of = (name: string, resourceVersion: number) =>
    pods.of({ ...workload({ kind: "StatefulSet" }), name }, resourceVersion);
  return { client, clock, create, of, path, lists: () => lists };
}

it("finds the oldest running Pod of all workloads of a namespace by one list", async () => {
  const { client, clock, create, of, path, lists } = scene();
  const start = Math.floor(clock.wall() / 1000);
  await create("ended");
  const body = { status: { phase: "Failed" } };
  const contentType = "application/merge-patch+json";
  await client.request({ method: "PATCH", path: `${path}/ended/status`, body, contentType });
  await create("ending", { finalizers: ["example.com/any"] });
  await client.request({ method: "DELETE", path: `${path}/ending` });
  await clock.advance(10_000);
  await create("a-0");
  await clock.advance(10_000);
  const last = await create("a-1");
  const [a, b] = await Promise.all([of("a", last), of("b", 1)]);
  const requested = { monotonic: clock.monotonic(), serverTime: start + 20 };
  expect(a).toEqual({
    times: { scheduledAt: start + 10, envAt: Number.POSITIVE_INFINITY },
    listedUpTo: last,
    answeredAt: clock.monotonic(),
    requested,
  });
  expect(b).toEqual({ times: undefined, listedUpTo: last, answeredAt: clock.monotonic(), requested });
  expect(lists()).toBe(1);
});

it("lists again for a later resourceVersion, and after 15 s", async () => {
  const { clock, create, of, lists } = scene();
  const first = await create("a-0");
  await of("a", first);
  const second = await create("a-1");
  expect(await of("a", second)).toMatchObject({ listedUpTo: second });
  await of("a", second);
  expect(lists()).toBe(2);
  await clock.advance(15_000);
  await of("a", second);
  expect(lists()).toBe(3);
});

it("takes Pods that Wave may not list as older than everything, and rejects with other errors", async () => {
  expect(await scene(403).of("a", 1)).toEqual({ times: { scheduledAt: 0, envAt: 0 }, listedUpTo: 0 });
  await expect(scene(422).of("a", 1)).rejects.toMatchObject({ status: 422 });
});

it("does not repeat a list that failed for 5 s, for any workload of the namespace", async () => {
  const { clock, of, lists } = scene(500);
  for (const name of ["a", "b"]) await expect(of(name, 1)).rejects.toMatchObject({ status: 500 });
  expect(lists()).toBe(1);
  await clock.advance(5_000);
  await expect(of("b", 1)).rejects.toMatchObject({ status: 500 });
  expect(lists()).toBe(2);
});
