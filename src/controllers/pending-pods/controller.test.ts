import { describe, expect, it } from "vitest";
import { unpaced } from "../../../test/support/domain/objects.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { builtInKinds, kinds } from "../../domain/model/kinds/apps-kinds.ts";
import { toWorkload } from "../../domain/model/workload.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { ApiError } from "../../kube/api/api-failure.ts";
import type { ApiRequest } from "../../kube/http/api-request.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import { TokenBucket } from "../../runtime/token-bucket.ts";
import { type Leadership, soleLeadership, WritePermits } from "../../runtime/write-permits.ts";
import { silentLogger } from "../../telemetry/logging/log.ts";
import { PendingPods } from "./controller.ts";

const policy: Policy = { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pacing: unpaced };
const schedulingHold = "wave.pusher.com/invalid";

function statefulSet(
  schedulerName: string,
  change: { observed?: number; partition?: number; uid?: string; mode?: string } = {},
) {
  return {
    apiVersion: "apps/v1" as const,
    kind: "StatefulSet" as const,
    metadata: {
      namespace: "shop",
      name: "db",
      uid: change.uid ?? "set",
      resourceVersion: "1",
      generation: 2,
      annotations: change.mode === undefined ? {} : { "wave.pusher.com/mode": change.mode },
    },
    spec: {
      serviceName: "db",
      selector: {},
      template: { spec: { schedulerName, containers: [] } },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: change.partition ?? 0 } },
    },
    status: { replicas: 1, observedGeneration: change.observed ?? 2 },
  };
}

function pod(name: string, change: { kind?: string; deleting?: boolean } = {}) {
  const ownerReferences = [
    { apiVersion: "apps/v1", kind: change.kind ?? "StatefulSet", name: "db", uid: "set", controller: true },
  ];
  const deletion = change.deleting ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
  return {
    metadata: { namespace: "shop", name, uid: `uid-${name}`, resourceVersion: "7", ownerReferences, ...deletion },
  };
}

/** Returns the permits of a leadership, by default without a limit. */
function permitsOf(
  leadership: Leadership,
  clock: FakeClock,
  perSecond: number = Number.POSITIVE_INFINITY,
): WritePermits {
  const tokens = new TokenBucket({ clock, perSecond, burst: 1 });
  return new WritePermits({ clock, tokens, leadership });
}

/** An API server with these pending Pods and this StatefulSet. The cache contains `cached`. */
function start(pods: ReturnType<typeof pod>[], owner: ReturnType<typeof statefulSet> | undefined, valid = () => true) {
  const state = { pods, owner, refuse: 0, cached: undefined as Workload | undefined };
  const deleted: ApiRequest[] = [];
  const asked: ApiRequest[] = [];
  const client: ApiClient = {
    async request<T>(request: ApiRequest): Promise<T> {
      asked.push(request);
      if (state.refuse > 0) {
        state.refuse--;
        throw new ApiError({ request: "list pods", status: 403, reason: "Forbidden", serverMessage: "" });
      }
      if (request.method === "DELETE") {
        deleted.push(request);
        state.pods = state.pods.filter(({ metadata }) => !request.path.endsWith(`/${metadata.name}`));
        return {} as T;
      }
      // Servers written in Go may say null for an empty list.
      const items = state.pods.length > 0 ? state.pods : null;
      if (request.path === "/api/v1/namespaces/shop/pods") return { metadata: { resourceVersion: "9" }, items } as T;
      if (state.owner) return state.owner as T;
      throw new ApiError({ request: "get", status: 404, reason: "NotFound", serverMessage: "" });
    },
    stream: () => Promise.reject(new Error("no watch is needed")),
    close: async () => {},
  };
  const clock = new FakeClock();
  const caches = { workload: () => state.cached, kinds: () => builtInKinds };
  const stop = new AbortController();
  const leadership = { ...soleLeadership(stop.signal), valid };
  const held = new PendingPods({
    client,
    caches,
    post: () => {},
    waitingFor: () => undefined,
    policy: { ...policy, namespaces: ["shop"] },
    clock,
    log: silentLogger,
    random: () => 1,
    leadership,
    permits: permitsOf(leadership, clock),
  });
  const done = held.run();
  const end = () => {
    stop.abort();
    return done;
  };
  return { state, deleted, asked, clock, held, end };
}

const slim = (schedulerName: string): Workload => toWorkload(kinds.StatefulSet, statefulSet(schedulerName));
const opened = {
  key: "StatefulSet/shop/db",
  before: slim(schedulingHold),
  after: slim("default-scheduler"),
  initial: false,
};

describe("Pods that are pending although their scheduling hold is open", () => {
  it("are deleted when leadership begins, with the observed version as precondition", async () => {
    const { asked, deleted, clock, end } = start([pod("db-0")], statefulSet("default-scheduler"));
    await clock.advance(0);
    expect(deleted).toMatchObject([
      { path: "/api/v1/namespaces/shop/pods/db-0", body: { preconditions: { uid: "uid-db-0", resourceVersion: "7" } } },
    ]);
    expect(asked[0]?.query).toMatchObject({ fieldSelector: `spec.schedulerName=${schedulingHold},spec.nodeName=` });
    expect(asked[0]?.accept).toMatch("as=PartialObjectMetadataList");
    await end();
  });

  it("are deleted when a scheduling hold opens, but not before the StatefulSet controller has observed the change", async () => {
    const { state, deleted, held, asked, clock, end } = start([], statefulSet(schedulingHold));
    await clock.advance(60_000);
    expect(asked).toHaveLength(1);
    Object.assign(state, { pods: [pod("db-0")], owner: statefulSet("default-scheduler", { observed: 1 }) });
    held.onWorkloadChange(opened);
    await clock.advance(1000);
    expect(deleted).toEqual([]);
    state.owner = statefulSet("default-scheduler");
    await clock.advance(5000);
    expect(deleted).toHaveLength(1);
    await end();
  });

  it("are deleted after a list during which a scheduling hold may have opened unobserved", async () => {
    const { state, deleted, held, asked, clock, end } = start([], statefulSet(schedulingHold));
    await clock.advance(60_000);
    Object.assign(state, { pods: [pod("db-0")], owner: statefulSet("default-scheduler") });
    held.onListed("Deployment", "shop");
    await clock.advance(5_000);
    expect(asked).toHaveLength(1);
    held.onListed("StatefulSet", "shop");
    await clock.advance(5_000);
    expect(deleted).toHaveLength(1);
    await end();
  });

  it.each([
    ["whose scheduling hold is closed", [pod("db-0")], statefulSet(schedulingHold)],
    ["whose workload is only observed", [pod("db-0")], statefulSet("default-scheduler", { mode: "observe" })],
    ["whose workload is gone", [pod("db-0")], undefined],
    ["whose workload is another of that name", [pod("db-0")], statefulSet("default-scheduler", { uid: "other" })],
    ["below the partition of an update", [pod("db-0")], statefulSet("default-scheduler", { partition: 1 })],
    [
      "of a ReplicaSet, which its Deployment replaces",
      [pod("db-0", { kind: "ReplicaSet" })],
      statefulSet("default-scheduler"),
    ],
    ["that are being deleted", [pod("db-0", { deleting: true })], statefulSet("default-scheduler")],
  ])("are not deleted %s", async (_what, pods, owner) => {
    const { deleted, clock, end } = start(pods, owner);
    await clock.advance(60_000);
    expect(deleted).toEqual([]);
    await end();
  });

  it("are not deleted by a process that may no longer write", async () => {
    const { deleted, clock, end } = start([pod("db-0")], statefulSet("default-scheduler"), () => false);
    await clock.advance(10_000);
    expect(deleted).toEqual([]);
    await end();
  });

  it("are listed only when a workload waits or its scheduling hold opens, not at other changes", async () => {
    const { asked, held, clock, end } = start([], undefined);
    await clock.advance(0);
    held.onWaiting("shop");
    await clock.advance(10_000);
    expect(asked).toHaveLength(2);
    held.onWorkloadChange({ ...opened, after: opened.before });
    held.onWorkloadChange({ ...opened, before: opened.after });
    held.onWorkloadChange({ ...opened, before: { ...opened.after, generation: 1 } });
    held.onWorkloadChange({ ...opened, before: undefined, after: { ...opened.after, generation: 1 } });
    await clock.advance(600_000);
    expect(asked).toHaveLength(2);
    await end();
  });

  it("are listed if a scheduling hold may have closed and opened between two observed states", async () => {
    const { asked, held, clock, end } = start([], undefined);
    await clock.advance(0);
    held.onWorkloadChange({ ...opened, before: undefined });
    await clock.advance(600_000);
    expect(asked).toHaveLength(2);
    held.onWorkloadChange({ ...opened, before: opened.after, after: { ...opened.after, generation: 4 } });
    await clock.advance(600_000);
    expect(asked).toHaveLength(3);
    held.onWorkloadChange({ ...opened, before: { ...opened.after, uid: "another", generation: 1 } });
    await clock.advance(600_000);
    expect(asked).toHaveLength(4);
    await end();
  });

  it("are deleted when the workload or its Namespace leaves mode observe", async () => {
    const observed = toWorkload(kinds.StatefulSet, statefulSet("default-scheduler", { mode: "observe" }));
    const { state, deleted, held, clock, end } = start([], statefulSet("default-scheduler"));
    await clock.advance(0);
    state.pods = [pod("db-0")];
    held.onWorkloadChange({ ...opened, before: observed, after: { ...opened.after, generation: observed.generation } });
    await clock.advance(5_000);
    expect(deleted).toHaveLength(1);
    state.pods = [pod("db-1")];
    held.onNamespaceChange("shop");
    await clock.advance(5_000);
    expect(deleted).toHaveLength(2);
    await end();
  });

  it("are retried with growing delays if the API server refuses the deletion", async () => {
    const { state, asked, deleted, held, clock, end } = start([], statefulSet("default-scheduler"));
    await clock.advance(0);
    Object.assign(state, { refuse: 3, pods: [pod("db-0")] });
    held.onWorkloadChange(opened);
    await clock.advance(250 + 249);
    expect(asked).toHaveLength(2);
    await clock.advance(1 + 500 + 999);
    expect({ asked: asked.length, deleted: deleted.length }).toEqual({ asked: 4, deleted: 0 });
    await clock.advance(2);
    expect(deleted).toHaveLength(1);
    await end();
  });

  it("are listed when the scheduling hold opens of a workload that opted out and left the cache", async () => {
    const { state, deleted, held, clock, end } = start([], statefulSet("default-scheduler"));
    await clock.advance(0);
    state.pods = [pod("db-0")];
    held.onWorkloadChange({ ...opened, after: undefined });
    await clock.advance(250);
    expect(deleted).toHaveLength(1);
    await end();
  });

  it("cost no request each if the cache has a closed scheduling hold for them, or no such workload", async () => {
    const { state, asked, deleted, held, clock, end } = start([], undefined);
    await clock.advance(0);
    Object.assign(state, { pods: [pod("db-0"), pod("db-1")], cached: slim(schedulingHold) });
    held.onWorkloadChange(opened);
    await clock.advance(60_000);
    state.cached = { ...slim("default-scheduler"), uid: "another" };
    held.onWorkloadChange(opened);
    await clock.advance(60_000);
    expect(deleted).toEqual([]);
    expect(asked.filter(({ path }) => !path.endsWith("/pods"))).toEqual([]);
    await end();
  });
});

/** A Pod with an ownerReference, in a namespace. */
function owned(namespace: string, name: string, owner: { readonly kind: string; readonly name: string }) {
  const ownerReferences = [{ apiVersion: "apps/v1", uid: `uid-${owner.name}`, controller: true, ...owner }];
  return { metadata: { namespace, name, uid: `uid-${name}`, resourceVersion: "7", ownerReferences } };
}

/**
 * An API server with many namespaces and paged lists, on which no requested StatefulSet has a scheduling hold. Wave has `perSecond` write
 * permits, by default any number.
 */
function manyNamespaces(
  pods: ReturnType<typeof owned>[],
  refuseDelete: (path: string) => boolean = () => false,
  perSecond?: number,
) {
  let held = pods;
  const deleted: string[] = [];
  const asked: string[] = [];
  const client = {
    async request<T>({ method, path, query }: ApiRequest): Promise<T> {
      asked.push(`${method} ${path}`);
      if (method === "DELETE") {
        if (refuseDelete(path))
          throw new ApiError({ request: "delete", status: 403, reason: "Forbidden", serverMessage: "" });
        deleted.push(path);
        held = held.filter(({ metadata: { namespace, name } }) => !path.endsWith(`/${namespace}/pods/${name}`));
        return {} as T;
      }
      const name = /statefulsets\/(.*)$/.exec(path)?.[1];
      if (name !== undefined) {
        const owner = statefulSet("default-scheduler", { uid: `uid-${name}` });
        return { ...owner, metadata: { ...owner.metadata, name } } as T;
      }
      const namespace = /namespaces\/(.*)\/pods$/.exec(path)?.[1];
      const here = held.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace);
      const from = Number(query?.continue ?? 0);
      const to = from + Number(query?.limit);
      const next = to < here.length ? { continue: String(to) } : {};
      return { metadata: { resourceVersion: "9", ...next }, items: here.slice(from, to) } as T;
    },
  };
  const clock = new FakeClock();
  const caches = { workload: () => undefined, kinds: () => builtInKinds };
  const stop = new AbortController();
  const leadership = soleLeadership(stop.signal);
  const pendingPods = new PendingPods({
    client,
    caches,
    post: () => {},
    waitingFor: () => undefined,
    policy,
    clock,
    log: silentLogger,
    random: () => 1,
    leadership,
    permits: permitsOf(leadership, clock, perSecond),
  });
  const done = pendingPods.run();
  const end = () => {
    stop.abort();
    return done;
  };
  return { deleted, asked, clock, end };
}

describe("Pods of hostile neighbours", () => {
  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", ""])(
    "whose owner has the kind %j do not delay the deletion of others",
    async (kind) => {
      const pods = [
        owned("evil", "p", { kind, name: "x" }),
        owned("shop", "db-0", { kind: "StatefulSet", name: "db" }),
      ];
      const { deleted, clock, end } = manyNamespaces(pods);
      await clock.advance(0);
      expect(deleted).toEqual(["/api/v1/namespaces/shop/pods/db-0"]);
      await end();
    },
  );

  it("whose owners have names like paths cause no request for the owner", async () => {
    const pods = ["..", ".", "a/b", "%2e%2e", "A"].map((name, index) =>
      owned("evil", `p-${index}`, { kind: "StatefulSet", name }),
    );
    const { asked, clock, end } = manyNamespaces(pods);
    await clock.advance(60_000);
    expect(asked).toEqual(["GET /api/v1/pods", "GET /api/v1/namespaces/evil/pods"]);
    await end();
  });

  it("that cannot be deleted are retried without a delay for the other Pods of the page", async () => {
    const db = { kind: "StatefulSet", name: "db" };
    const pods = [owned("shop", "stuck", db), owned("shop", "db-0", db), owned("shop", "db-1", db)];
    const { deleted, asked, clock, end } = manyNamespaces(pods, (path) => path.endsWith("/stuck"));
    await clock.advance(0);
    expect(deleted).toEqual(["/api/v1/namespaces/shop/pods/db-0", "/api/v1/namespaces/shop/pods/db-1"]);
    const before = asked.length;
    await clock.advance(60_000);
    const more = asked.slice(before).filter((request) => request.startsWith("DELETE"));
    expect(more.length).toBeGreaterThan(2);
    expect(more.length).toBeLessThan(12);
    await end();
  });

  it("delay another namespace by one write permit each", async () => {
    const db = { kind: "StatefulSet", name: "db" };
    const evil = ["evil-1", "evil-2", "evil-3", "evil-4", "evil-5"];
    const pods = evil.flatMap((namespace) => Array.from({ length: 30 }, (_, n) => owned(namespace, `db-${n}`, db)));
    const { deleted, asked, clock, end } = manyNamespaces([...pods, owned("shop", "db-0", db)], undefined, 1);
    await eventually(async () => {
      await clock.advance(0);
      expect(asked).toContain("GET /apis/apps/v1/namespaces/shop/statefulsets/db");
    });
    await clock.advance(6_000);
    expect(deleted).toHaveLength(7);
    expect(deleted).toContain("/api/v1/namespaces/shop/pods/db-0");
    await clock.advance(200_000);
    expect(deleted).toHaveLength(151);
    await end();
  });

  it("do not delay other namespaces, even if 10,000 Pods have different owners", async () => {
    const forged = Array.from({ length: 10_000 }, (_, n) =>
      owned("evil", `p-${n}`, { kind: "StatefulSet", name: `forged-${n}` }),
    ).map((pod) => ({
      metadata: { ...pod.metadata, ownerReferences: [{ ...pod.metadata.ownerReferences[0], uid: "x" }] },
    }));
    const pods = [...forged, owned("shop", "db-0", { kind: "StatefulSet", name: "db" })] as ReturnType<typeof owned>[];
    const { deleted, asked, clock, end } = manyNamespaces(pods);
    const requests = (start: string) => asked.filter((request) => request.startsWith(start)).length;
    // Each page of all namespaces, each page of the one namespace, each owner: once.
    await eventually(async () => {
      await clock.advance(0);
      expect(deleted).toEqual(["/api/v1/namespaces/shop/pods/db-0"]);
      expect(requests("GET /api/v1/pods")).toBe(501);
      expect(requests("GET /apis/apps/v1/namespaces/evil")).toBe(10_000);
    });
    expect(requests("GET /api/v1/namespaces/evil/pods")).toBe(500);
    expect(requests("GET /apis/apps/v1/namespaces/evil")).toBe(10_000);
    await clock.advance(600_000);
    expect(requests("GET /api/v1/namespaces/evil/pods")).toBe(500);
    await end();
  });
});
