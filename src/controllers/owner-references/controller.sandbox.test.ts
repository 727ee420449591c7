import { expect, it, onTestFinished } from "vitest";
import type { OwnerReference } from "#kubernetes";
import { startSandbox } from "../../../sandbox/sandbox.ts";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { httpClient, TestCluster, workload } from "../../../test/support/fake-cluster.ts";
import { oldFinalizer } from "../../domain/model/scheduling-hold.ts";
import { toNamespacePolicy } from "../../domain/policy/policy.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { ControllerOptions } from "../rollout/controller.ts";

const reads = (...names: readonly string[]) => ({
  containers: [{ name: "main", image: "nginx", envFrom: names.map((name) => ({ configMapRef: { name } })) }],
});

interface Wanted extends Partial<ControllerOptions> {
  readonly ownership?: "keep" | "remove";
  /** Makes a request of owner references fail instead of being sent. */
  readonly fail?: (request: ApiRequest) => Error | undefined;
  /** Happens before such a request is sent. */
  readonly before?: (request: ApiRequest) => Promise<void>;
}

/** A cluster without its own controllers, and a Wave whose caches receive what the test shows. */
async function scene({ ownership = "keep", fail, before, ...options }: Wanted = {}) {
  const sandbox = await startSandbox({ controllers: false });
  const byHand = httpClient(sandbox.url);
  /** The writes of owner references and finalizers, the attempts, and the number of sweeps of a namespace. */
  const [written, tried, looks]: [string[], string[], string[]] = [[], [], []];
  const client: ApiClient = {
    ...byHand,
    request: async <T>(request: ApiRequest): Promise<T> => {
      const isOwnership = request.accept?.includes("PartialObjectMetadata") === true;
      const name = request.path.replace(/^.*\/namespaces\/(.*)$/, "$1");
      if (isOwnership && request.method === "PATCH") tried.push(name);
      const isOwners = request.accept?.includes("PartialObjectMetadataList") && !name.endsWith("/pods");
      if (isOwners) looks.push(name);
      if (isOwnership) await before?.(request);
      const failure = isOwnership ? fail?.(request) : undefined;
      if (failure !== undefined) throw failure;
      const answer = await byHand.request<T>(request);
      if (isOwnership && request.method === "PATCH") written.push(name);
      return answer;
    },
  };
  const policy = {
    crossNamespace: "granted",
    namespaces: undefined,
    schedulingHold: true,
    pacing: unpaced,
    ownership,
  } as const;
  const cluster = new TestCluster(sandbox.url, { policy, ...options, client });
  const abort = new AbortController();
  let done: Promise<void> = Promise.resolve();
  onTestFinished(async () => {
    abort.abort();
    await done;
    cluster.close();
    await sandbox.close();
  });
  const { create, show, get } = {
    create: cluster.create.bind(cluster),
    show: cluster.show.bind(cluster),
    get: cluster.get.bind(cluster),
  };
  return {
    ...{ cluster, written, tried, looks, create, show, get },
    configMaps: async (...names: readonly string[]) => {
      for (const name of names) await create("ConfigMap", { metadata: { name }, data: { a: "1" } });
    },
    start: async () => {
      await cluster.list();
      done = cluster.controller.run({ stop: abort.signal, abort: abort.signal, valid: () => true });
    },
    owners: async (name: string) => {
      const { metadata } = (await get("ConfigMap", name)) ?? {};
      return metadata && (metadata.ownerReferences ?? []).map((owner) => `${owner.kind}/${owner.name}`);
    },
    finalizers: async (name: string) => (await get("Deployment", name))?.metadata.finalizers,
    /** Waits until all started work has ended. */
    settled: async () => {
      for (let turn = 0; turn < 10; turn++) await byHand.request({ method: "GET", path: "/api/v1/namespaces" });
    },
    /** Shows the caches the Deployments as they are. */
    showAll: async (...names: readonly string[]) => {
      for (const name of names) await show("Deployment", name);
    },
  };
}

const refused = (status: number, retryAfterMs?: number) =>
  new ApiError({ request: "patch it", status, reason: "Refused", serverMessage: "no", retryAfterMs });

it("adds the finalizer before the first owner reference, and removes it after the last", async () => {
  const { configMaps, create, start, owners, finalizers, written, settled, showAll, cluster, show } = await scene();
  await configMaps("a", "b");
  await create("Deployment", workload("web", reads("a", "b")));
  await start();
  await eventually(() => expect(written).toEqual(["default/deployments/web"]));
  await settled();
  expect(written).toHaveLength(1);
  await showAll("web");
  await eventually(() =>
    expect(written.toSorted().slice(0, 2)).toEqual(["default/configmaps/a", "default/configmaps/b"]),
  );
  expect(await owners("a")).toEqual(["Deployment/web", "Namespace/default"]);

  // The caches receive no event about these references, so only the stored objects have them.
  await cluster.remove("Deployment", "web");
  await showAll("web");
  await eventually(async () => expect(await cluster.get("Deployment", "web")).toBeUndefined());
  expect(written.slice(3).at(-1)).toBe("default/deployments/web");
  expect(written.slice(3, 5).toSorted()).toEqual(["default/configmaps/a", "default/configmaps/b"]);
  for (const name of ["a", "b"]) expect(await owners(name)).toEqual([]);
  await show("Deployment", "web");
  expect(await finalizers("web")).toBeUndefined();
});

it("writes and reads nothing if every owner reference is correct", async () => {
  const { configMaps, create, start, owners, written, tried, settled, showAll, show, cluster } = await scene();
  await configMaps("a");
  await create("Deployment", workload("web", reads("a", "none")));
  await start();
  await eventually(() => expect(written).toHaveLength(1));
  await showAll("web");
  await eventually(async () => expect(await owners("a")).toHaveLength(2));
  await show("ConfigMap", "a");
  await settled();
  const before = tried.length;
  const counted = () => cluster.metrics.render().match(/^wave_owner_reference_writes_total.*$/gm);
  const metrics = counted();
  cluster.controller.onNamespaceChange("default");
  await cluster.edit("ConfigMap", "a", { data: { a: "2" } });
  await show("ConfigMap", "a");
  await settled();
  expect(tried).toHaveLength(before);
  expect(counted()).toEqual(metrics);
  expect(metrics).toContain('wave_owner_reference_writes_total{result="written"} 2');
});

it("writes an object once for all workloads that read it", async () => {
  const { configMaps, create, start, owners, written, showAll } = await scene();
  const names = Array.from({ length: 20 }, (_, index) => `web-${index}`);
  await configMaps("shared");
  const metadata = { finalizers: [oldFinalizer] };
  for (const name of names) {
    const { metadata: own, ...rest } = workload(name, reads("shared"));
    await create("Deployment", { ...rest, metadata: { ...own, ...metadata } });
  }
  await start();
  await showAll(...names);
  await eventually(async () => expect(await owners("shared")).toHaveLength(names.length + 1));
  expect(written).toEqual(["default/configmaps/shared"]);
});

it("sweeps a namespace once for all waiting workloads, and once more when their references are removed", async () => {
  const { configMaps, create, start, written, looks, cluster } = await scene({ ownership: "remove" });
  const names = Array.from({ length: 20 }, (_, index) => `web-${index}`);
  await configMaps("unread");
  const ownerReferences = [];
  for (const name of names) {
    const { metadata, ...rest } = workload(name, reads("none"));
    const finalizers = [oldFinalizer, "example.com/other"];
    const { metadata: made } = await create("Deployment", { ...rest, metadata: { ...metadata, finalizers } });
    ownerReferences.push({ apiVersion: "apps/v1", kind: "Deployment", name, uid: made.uid });
  }
  const { metadata } = (await cluster.get("ConfigMap", "unread")) ?? {};
  await cluster.edit("ConfigMap", "unread", { metadata: { ownerReferences } });
  expect(metadata?.ownerReferences).toBeUndefined();
  await start();
  await eventually(() => expect(written).toHaveLength(names.length + 1));
  expect(written[0]).toBe("default/configmaps/unread");
  // Of each of the two kinds.
  expect(looks.length).toBeLessThanOrEqual(4 * 2);
});

it("continues with other objects if the write of one object is refused, and retries that write with growing delays", async () => {
  const { configMaps, create, start, owners, tried, showAll, cluster, settled } = await scene({
    fail: ({ method, path }) => (method === "PATCH" && path.endsWith("/a") ? refused(403) : undefined),
  });
  await configMaps("a", "b");
  await create("Deployment", workload("web", reads("a", "b")));
  await start();
  await eventually(() => expect(tried).toHaveLength(1));
  await showAll("web");
  await eventually(async () => expect(await owners("b")).toHaveLength(2));
  for (let minute = 0; minute < 60; minute++) {
    await cluster.clock.advance(60_000);
    await settled();
  }
  const ofA = tried.filter((name) => name === "default/configmaps/a");
  expect(ofA.length).toBeGreaterThan(5);
  expect(ofA.length).toBeLessThan(40);
  expect(await owners("a")).toEqual([]);
  const reported = cluster.logged.filter(({ message }) => message.startsWith("cannot write owner references"));
  expect(reported).toMatchObject([{ fields: { object: "ConfigMap/default/a" } }]);
});

it("does not retry before the Retry-After of the API server has passed", async () => {
  let tries = 0;
  const { configMaps, create, start, owners, showAll, cluster, settled } = await scene({
    fail: ({ method, path }) =>
      method === "PATCH" && path.endsWith("/a") && tries++ === 0 ? refused(429, 30_000) : undefined,
  });
  await configMaps("a");
  await create("Deployment", workload("web", reads("a")));
  await start();
  await eventually(async () => expect((await cluster.get("Deployment", "web"))?.metadata.finalizers).toHaveLength(1));
  await showAll("web");
  await eventually(() => expect(tries).toBe(1));
  await settled();
  await cluster.clock.advance(29_000);
  await settled();
  expect(tries).toBe(1);
  await cluster.clock.advance(1_000);
  await eventually(async () => expect(await owners("a")).toHaveLength(2));
});

it("writes to namespaces in turn, even if one namespace has many writes", async () => {
  const { create, cluster, start, written } = await scene({ updateRate: 1, updateBurst: 1 });
  for (const [namespace, count] of [
    ["loud", 30],
    ["quiet", 1],
  ] as const) {
    await cluster.client.request({
      method: "POST",
      path: "/api/v1/namespaces",
      body: { metadata: { name: namespace } },
    });
    for (let index = 0; index < count; index++) {
      await create("Deployment", workload(`web-${index}`, reads("none")), namespace);
    }
  }
  await start();
  for (let turn = 1; turn <= 4; turn++) {
    await eventually(() => expect(written.length).toBeGreaterThanOrEqual(turn));
    await cluster.clock.advance(1_000);
  }
  expect(written.slice(0, 4)).toContain("quiet/deployments/web-0");
});

it("plans again if another client changed the owners between the read and the write", async () => {
  let edits: Promise<unknown> | undefined;
  let other: OwnerReference | undefined;
  const { configMaps, create, start, owners, showAll, cluster, written, tried, settled } = await scene({
    before: async ({ method, path }) => {
      if (method !== "PATCH" || !path.endsWith("/a")) return;
      edits ??= cluster.edit("ConfigMap", "a", { metadata: { ownerReferences: [other] } });
      await edits;
    },
  });
  await configMaps("a");
  const { metadata } = await create("Secret", { metadata: { name: "app" } });
  other = { apiVersion: "v1", kind: "Secret", name: "app", uid: metadata.uid, controller: true };
  await create("Deployment", workload("web", reads("a")));
  await start();
  await eventually(() => expect(written).toHaveLength(1));
  await showAll("web");
  await eventually(() => expect(tried).toHaveLength(2));
  await settled();
  await cluster.clock.advance(10_000);
  await settled();
  expect(tried).toHaveLength(2);
  expect(await owners("a")).toEqual(["Secret/app"]);
});

it("sweeps again for a workload that became an owner during the sweep", async () => {
  const looked = Promise.withResolvers<void>();
  let began = 0;
  const { configMaps, create, start, owners, finalizers, showAll, cluster, written } = await scene({
    before: async ({ accept, path }) => {
      if (!accept?.includes("List") || !path.endsWith("/secrets") || began++ > 0) return;
      await looked.promise;
    },
  });
  await configMaps("a");
  await create("Deployment", workload("web", reads("none")));
  await start();
  await eventually(() => expect(written).toHaveLength(1));
  const opt = async (value: string, podSpec: object = {}) => {
    const annotations = { "wave.pusher.com/update-on-config-change": value };
    await cluster.edit("Deployment", "web", { metadata: { annotations }, spec: { template: { spec: podSpec } } });
    await showAll("web");
  };
  await opt("false");
  // ConfigMaps are listed already, Secrets are not.
  await eventually(() => expect(began).toBe(1));
  await opt("true", reads("a"));
  await eventually(async () => expect(await owners("a")).toEqual(["Deployment/web", "Namespace/default"]));
  await opt("false");
  looked.resolve();
  await eventually(async () => expect(await owners("a")).toEqual([]));
  await eventually(async () => expect(await finalizers("web")).toBeUndefined());
});

it("sweeps again if a finalizer was added again, because references may exist again", async () => {
  const { configMaps, create, start, owners, finalizers, showAll, cluster, settled } = await scene({
    ownership: "remove",
  });
  await configMaps("a");
  const { metadata, ...rest } = workload("web", reads("none"));
  const finalized = { metadata: { finalizers: [oldFinalizer] } };
  const { metadata: made } = await create("Deployment", { ...rest, metadata: { ...metadata, ...finalized.metadata } });
  await start();
  await eventually(async () => expect(await finalizers("web")).toBeUndefined());
  await showAll("web");

  const ownerReferences = [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: made.uid }];
  await cluster.edit("ConfigMap", "a", { metadata: { ownerReferences } });
  await cluster.edit("Deployment", "web", finalized);
  await showAll("web");
  for (let second = 0; second < 5; second++) {
    await settled();
    await cluster.clock.advance(1_000);
  }
  await eventually(async () => expect(await finalizers("web")).toBeUndefined());
  expect(await owners("a")).toEqual([]);
});

it.each([403, 422])(
  "reports on a deleted workload that a write is refused with %d, and continues when it is accepted",
  async (status) => {
    let refuses = false;
    const { configMaps, create, start, owners, showAll, cluster, written } = await scene({
      fail: ({ method, path }) => (refuses && method === "PATCH" && path.endsWith("/a") ? refused(status) : undefined),
    });
    await configMaps("a", "b");
    await create("Deployment", workload("web", reads("a", "b")));
    await start();
    await eventually(() => expect(written).toHaveLength(1));
    await showAll("web");
    await eventually(async () => expect(await owners("a")).toHaveLength(2));
    await eventually(async () => expect(await owners("b")).toHaveLength(2));

    refuses = true;
    await cluster.remove("Deployment", "web");
    await showAll("web");
    const reported = () => cluster.events.filter(({ reason }) => reason === "OldFinalizer");
    await eventually(async () => {
      await cluster.clock.advance(1_000);
      expect(reported()).not.toEqual([]);
    });
    expect(reported()[0]).toMatchObject({
      regarding: { kind: "Deployment", name: "web" },
      type: "Warning",
      message: expect.stringMatching(/^Deletion blocked: cannot remove finalizer: patch it: .* Wave retries\.$/),
    });
    expect(await cluster.get("Deployment", "web")).toBeDefined();

    refuses = false;
    await eventually(async () => {
      await cluster.clock.advance(60_000);
      expect(await cluster.get("Deployment", "web")).toBeUndefined();
    });
    expect(await owners("a")).toEqual([]);
  },
);

it("removes only the finalizer if the Namespace is being deleted, because Wave may lose its roles soon", async () => {
  let ends = false;
  const namespacePolicyOf = () => ({ ...toNamespacePolicy({}), deleting: ends });
  const policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pacing: unpaced } as const;
  const { configMaps, create, start, owners, finalizers, showAll, cluster, looks } = await scene({
    policy: { ...policy, ownership: "keep", namespacePolicyOf },
  });
  await configMaps("a");
  await create("Deployment", workload("web", reads("a")));
  await start();
  await eventually(async () => expect(await finalizers("web")).toEqual([oldFinalizer]));
  await showAll("web");
  await eventually(async () => expect(await owners("a")).toHaveLength(2));
  ends = true;
  cluster.controller.onNamespaceChange("default");
  await eventually(async () => expect(await finalizers("web")).toBeUndefined());
  expect([await owners("a"), looks]).toEqual([["Deployment/web", "Namespace/default"], []]);
});

it("sends few Events at once, however many deletions are blocked", async () => {
  let refuses = false;
  const names = Array.from({ length: 20 }, (_, i) => `web-${i}`);
  const [sending, reported] = [new Set<string>(), new Set<string>()];
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const recorder = {
    record: async ({ reason, regarding: { name } }: ObjectEvent) => {
      if (reason !== "OldFinalizer") return;
      sending.add(name);
      await answered;
      sending.delete(name);
      reported.add(name);
    },
  };
  const refusedFor = new Set<string>();
  const { configMaps, create, start, finalizers, showAll, cluster } = await scene({
    fail: ({ method, path }) => {
      if (!refuses || method !== "PATCH") return undefined;
      refusedFor.add(path);
      return refused(403);
    },
    recorder,
  });
  await configMaps("a");
  for (const name of names) await create("Deployment", workload(name, reads("a")));
  await start();
  await eventually(async () => {
    await cluster.clock.advance(1_000);
    for (const name of names) expect(await finalizers(name)).toEqual([oldFinalizer]);
  });
  refuses = true;
  for (const name of names) await cluster.remove("Deployment", name);
  await showAll(...names);
  await eventually(async () => {
    await cluster.clock.advance(1_000);
    expect(refusedFor.size).toBeGreaterThanOrEqual(names.length);
  });
  expect(sending.size).toBeLessThanOrEqual(4);
  answer();
  await eventually(async () => {
    await cluster.clock.advance(1_000);
    expect(reported.size).toBe(names.length);
  });
});
