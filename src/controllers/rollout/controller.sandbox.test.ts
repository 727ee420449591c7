import { describe, expect, it, onTestFinished } from "vitest";
import { type FaultAction, type Sandbox, startSandbox } from "../../../sandbox/sandbox.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { httpClient, TestCluster, workload } from "../../../test/support/fake-cluster.ts";
import { ConnectionError } from "../../kube/api/api-failure.ts";
import type { KubeObject } from "../../kube/api/resources.ts";
import type { ObjectEvent } from "../../kube/events/event-object.ts";
import type { ApiClient } from "../../kube/http/client.ts";
import type { Leadership } from "../../runtime/write-permits.ts";
import type { ControllerOptions } from "./controller.ts";

const hashPath = "wave.pusher.com/config-hash";

interface Scene {
  readonly sandbox: Sandbox;
  readonly cluster: TestCluster;
  /** Begins leadership; `stop` and `abort` end it and resolve when it has ended. */
  readonly lead: (valid?: () => boolean) => { stop: () => Promise<void>; abort: () => Promise<void> };
  /** Waits until all started work has ended. */
  readonly settled: () => Promise<void>;
  /** Status codes of Wave's JSON patches, in order. */
  readonly patches: () => number[];
  /** Resolves when this many patches were answered, and another one would have arrived by then. */
  readonly patched: (count: number) => Promise<void>;
  readonly hashOf: (name: string) => Promise<string | undefined>;
  readonly reasons: () => string[];
}

async function scene(options: Partial<ControllerOptions> & { readonly wrap?: (client: ApiClient) => ApiClient } = {}) {
  // All times of the API are the same second, so no workload is newer than what it reads.
  const clock = new FakeClock();
  const sandbox = await startSandbox({ controllers: false, clock });
  const { wrap = (client: ApiClient) => client, ...rest } = options;
  const byHand = httpClient(sandbox.url);
  const sent: number[] = [];
  const counting: ApiClient = {
    ...byHand,
    request: async <T>(request: Parameters<ApiClient["request"]>[0]) => {
      if (request.contentType !== "application/json-patch+json") return byHand.request<T>(request);
      const index = sent.push(0) - 1;
      try {
        const answer = await byHand.request<T>(request);
        sent[index] = 200;
        return answer;
      } catch (error) {
        sent[index] = error instanceof Error && "status" in error ? Number(error.status) : -1;
        throw error;
      }
    },
  };
  const cluster = new TestCluster(sandbox.url, { ...rest, client: wrap(counting) }, clock);
  const ends: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const end of ends) await end();
    cluster.close();
    await sandbox.close();
  });
  const lead = (valid = () => true) => {
    const [stop, abort] = [new AbortController(), new AbortController()];
    const leadership: Leadership = { stop: stop.signal, abort: abort.signal, valid };
    const done = cluster.controller.run(leadership);
    const end = (how: AbortController) => () => {
      how.abort();
      return done;
    };
    ends.push(end(abort));
    return { stop: end(stop), abort: end(abort) };
  };
  // A few round trips: what Wave would send now, it sends before them.
  const settled = async () => {
    for (let turn = 0; turn < 3; turn++) await cluster.get("Deployment", "web");
  };
  const answered = () => sent.filter((status) => status !== 0);
  return {
    sandbox,
    cluster,
    lead,
    settled,
    patches: () => sent,
    patched: async (count: number) => {
      await eventually(() => expect(answered().length).toBeGreaterThanOrEqual(count));
      await settled();
    },
    hashOf: async (name: string) => {
      const object = await cluster.get("Deployment", name);
      const spec: { template?: { metadata?: { annotations?: Record<string, string> } } } =
        object !== undefined && "spec" in object ? Object(object.spec) : {};
      return spec.template?.metadata?.annotations?.[hashPath];
    },
    reasons: () => cluster.events.map(({ reason }) => reason).filter((reason) => reason !== "RolloutComplete"),
  } satisfies Scene;
}

/** A controller that leads, and a Deployment `web` with its hash, in synced caches. */
async function steady(options: Parameters<typeof scene>[0] = {}) {
  const made = await scene(options);
  const { cluster } = made;
  await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
  await cluster.create("Deployment", workload("web"));
  await cluster.list();
  const leading = made.lead();
  await made.patched(1);
  await cluster.show("Deployment", "web");
  await made.settled();
  return { ...made, leading };
}

const patchesOf = (name: string, action: FaultAction, times?: number) => ({
  match: ({ method, path }: { method: string; path: string }) =>
    method === "PATCH" && path.endsWith(`/deployments/${name}`),
  action,
  ...(times === undefined ? {} : { times }),
});

describe("the controller", () => {
  it("adds the hash to a workload without a hash, and reports it", async () => {
    const { patches, hashOf, cluster } = await steady();
    expect(patches()).toEqual([200]);
    expect(await hashOf("web")).toMatch(/^v2:[0-9a-f]{64}$/);
    expect(cluster.events).toMatchObject([
      {
        type: "Normal",
        reason: "ConfigHashAdded",
        regarding: { kind: "Deployment", namespace: "default", name: "web" },
      },
    ]);
  });

  it("writes as field manager wave", async () => {
    const { cluster } = await steady();
    const web = await cluster.get("Deployment", "web");
    expect(web?.metadata.managedFields?.map(({ manager }) => manager)).toContain("wave");
  });

  it("patches once and reports once after an edit of a ConfigMap, and names the key", async () => {
    const { cluster, patches, patched, hashOf, settled } = await steady();
    const before = await hashOf("web");
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await patched(2);
    await cluster.show("Deployment", "web");
    await settled();
    expect(patches()).toEqual([200, 200]);
    expect(await hashOf("web")).not.toBe(before);
    expect(cluster.events.slice(1)).toMatchObject([
      { type: "Normal", reason: "ConfigChanged", message: 'Rollout started: ConfigMap "web" changed (key "a").' },
    ]);
  });

  it("names the Pod that blocks the rollout of an ordered StatefulSet, with the command that deletes it", async () => {
    const { cluster, reasons, patched } = await steady();
    await cluster.create("StatefulSet", workload("db"));
    await cluster.show("StatefulSet", "db");
    await eventually(() => expect(reasons()).toHaveLength(2));
    const generation = (await cluster.get("StatefulSet", "db"))?.metadata.generation;
    const revisions = { currentRevision: "db-good", updateRevision: "db-bad", updatedReplicas: 1 };
    await cluster.client.request({
      method: "PATCH",
      path: "/apis/apps/v1/namespaces/default/statefulsets/db/status",
      body: { status: { observedGeneration: generation, replicas: 1, availableReplicas: 0, ...revisions } },
      contentType: "application/merge-patch+json",
    });
    await cluster.show("StatefulSet", "db");
    cluster.events.length = 0;
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await patched(2);
    await eventually(() => expect(reasons()).toContain("RolloutBlocked"));
    expect(cluster.events.filter(({ reason }) => reason === "RolloutBlocked")).toMatchObject([
      {
        type: "Warning",
        regarding: { kind: "StatefulSet", name: "db" },
        message: expect.stringContaining("Run: kubectl delete pod db-0 -n default."),
      },
    ]);
  });

  it("sends no request if no workload reads the changed object", async () => {
    const { cluster, sandbox, settled } = await steady();
    await cluster.create("ConfigMap", { metadata: { name: "other" }, data: { a: "1" } });
    await cluster.edit("ConfigMap", "web", { metadata: { labels: { only: "a-label" } } });
    const before = sandbox.requests.length;
    await cluster.show("ConfigMap", "other");
    await cluster.show("ConfigMap", "web");
    await settled();
    // The test itself only lists.
    expect(sandbox.requests.slice(before).filter(({ verb }) => verb !== "list")).toEqual([]);
  });

  it("does not write again while the cache does not contain its write", async () => {
    const { cluster, patches, patched, settled } = await steady();
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await patched(2);
    cluster.controller.onConfigChange({
      key: "ConfigMap/default/web",
      before: undefined,
      after: undefined,
      initial: false,
    });
    await settled();
    expect(patches()).toEqual([200, 200]);
  });

  it("writes the next change on top of its own write before the cache contains that write", async () => {
    const { cluster, patches, patched, reasons } = await steady();
    for (const [value, count] of [
      ["2", 2],
      ["3", 3],
      ["4", 4],
    ] as const) {
      await cluster.edit("ConfigMap", "web", { data: { a: value } });
      await cluster.show("ConfigMap", "web");
      await patched(count);
    }
    expect(patches()).toEqual([200, 200, 200, 200]);
    expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged", "ConfigChanged", "ConfigChanged"]);
  });

  it("plans again at once with the stored workload if that is newer, and overwrites nothing", async () => {
    const { cluster, patches, patched, reasons } = await steady();
    await cluster.edit("Deployment", "web", { spec: { replicas: 5 } });
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await patched(3);
    expect(patches()).toEqual([200, 422, 200]);
    expect(await cluster.get("Deployment", "web")).toMatchObject({ spec: { replicas: 5 } });
    expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]);
  });

  it("does not patch a workload that opted out while the cache was stale", async () => {
    const { cluster, patches, patched, reasons, lead } = await scene();
    await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
    await cluster.create("StatefulSet", workload("web"));
    await cluster.list();
    await cluster.edit("StatefulSet", "web", {
      metadata: { annotations: { "wave.pusher.com/update-on-config-change": null } },
    });
    lead();
    await patched(1);
    expect(patches()).toEqual([422]);
    expect(reasons()).toEqual([]);
  });

  it("opens the scheduling hold of a workload whose namespace exceeds the cache limit, because Wave could not see the missing object appear", async () => {
    const { cluster, patched, lead } = await scene();
    const names = (i: number) => Array.from({ length: 990 }, (_, j) => `m-${i}-${j}`).join(",");
    for (let i = 0; i < 33; i++) {
      await cluster.create("Deployment", workload(`w${i}`, {}, { "wave.pusher.com/extra-configmaps": names(i) }));
    }
    const schedulingHold = {
      "wave.pusher.com/scheduling-disabled": "mine",
      "wave.pusher.com/extra-configmaps": names(99),
    };
    await cluster.create("StatefulSet", workload("held", { schedulerName: "wave.pusher.com/invalid" }, schedulingHold));
    await cluster.list();
    lead();
    await patched(1);
    const held = await cluster.get("StatefulSet", "held");
    expect(held).toMatchObject({ spec: { template: { spec: { schedulerName: "mine" } } } });
  });

  it("forgets a workload that was deleted", async () => {
    const { cluster, patches, patched, reasons, settled } = await steady();
    await cluster.remove("Deployment", "web");
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await patched(2);
    await cluster.clock.advance(600_000);
    await settled();
    expect(patches()).toEqual([200, 404]);
    expect(reasons()).toEqual(["ConfigHashAdded"]);
  });

  it.for([403, 422])(
    "reports a write that is refused with %d on the workload, retries with growing delays, and delays no other workload",
    async (status) => {
      const { cluster, sandbox, patches, patched, hashOf, reasons, settled } = await steady();
      const lift = sandbox.faults.add(patchesOf("web", { type: "status", status }));
      await cluster.create("Deployment", workload("free"));
      await cluster.show("Deployment", "free");
      await patched(2);
      await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
      await cluster.show("ConfigMap", "web");
      await patched(4);
      expect(await hashOf("free")).not.toBe(await hashOf("web"));
      await eventually(() =>
        expect(reasons().sort()).toEqual(["ConfigChanged", "ConfigHashAdded", "ConfigHashAdded", "RolloutRefused"]),
      );
      expect(cluster.events.find(({ reason }) => reason === "RolloutRefused")).toMatchObject({
        type: "Warning",
        regarding: { name: "web" },
      });

      const refusals = () => cluster.logged.filter(({ message }) => message.startsWith("write refused"));
      const tries = () => patches().length - 4;
      await cluster.clock.advance(200);
      await patched(5);
      await cluster.clock.advance(399);
      await settled();
      expect(tries()).toBe(1);
      await cluster.clock.advance(1);
      await patched(6);
      expect(refusals()).toHaveLength(1);
      lift();
      await cluster.clock.advance(800);
      await patched(7);
      expect(patches().slice(-1)).toEqual([200]);
      expect(await hashOf("free")).toBe(await hashOf("web"));
    },
  );

  it("waits for the Retry-After of the server", async () => {
    const { cluster, sandbox, patches, patched, reasons, settled } = await steady();
    sandbox.faults.add(patchesOf("web", { type: "status", status: 429, retryAfterSeconds: 7 }, 1));
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await patched(2);
    await cluster.clock.advance(6_999);
    await settled();
    expect(patches()).toEqual([200, 429]);
    await cluster.clock.advance(1);
    await patched(3);
    expect(patches()).toEqual([200, 429, 200]);
    expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]);
  });

  it("retries after a broken connection, without an Event on a workload", async () => {
    const { cluster, sandbox, patches, patched, reasons } = await steady();
    sandbox.faults.add(patchesOf("web", { type: "drop" }, 1));
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await patched(2);
    await cluster.clock.advance(200);
    await patched(3);
    expect(patches()).toEqual([200, -1, 200]);
    expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]);
  });

  /** A client that loses the answer to the next patch after `lose()`. */
  function forgetful() {
    let lost = true;
    const wrap = (client: ApiClient): ApiClient => ({
      ...client,
      request: async <T>(request: Parameters<ApiClient["request"]>[0]) => {
        const answer = await client.request<T>(request);
        if (lost || request.contentType !== "application/json-patch+json") return answer;
        lost = true;
        throw new ConnectionError("the answer was lost");
      },
    });
    const lose = () => {
      lost = false;
    };
    return { wrap, lose };
  }

  it("reports a write once if its response was lost", async () => {
    const { wrap, lose } = forgetful();
    const { cluster, patches, patched, reasons, settled } = await steady({ wrap });
    lose();
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await patched(2);
    expect(reasons()).toEqual(["ConfigHashAdded"]);
    await cluster.show("Deployment", "web");
    await settled();
    await cluster.clock.advance(200);
    await settled();
    expect(patches()).toEqual([200, 200]);
    expect(reasons()).toEqual(["ConfigHashAdded", "ConfigChanged"]);
  });

  it("reports an opened scheduling hold although the response was lost and the workload, which opted out, left the caches", async () => {
    const { wrap, lose } = forgetful();
    const { cluster, patched, reasons, lead, settled } = await scene({ wrap });
    const schedulingHold = {
      "wave.pusher.com/scheduling-disabled": "mine",
      "wave.pusher.com/update-on-config-change": "false",
    };
    await cluster.create("StatefulSet", workload("held", { schedulerName: "wave.pusher.com/invalid" }, schedulingHold));
    await cluster.list();
    lose();
    lead();
    await patched(1);
    expect(reasons()).toEqual([]);
    await cluster.show("StatefulSet", "held");
    await settled();
    await cluster.clock.advance(200);
    await settled();
    expect(reasons()).toEqual(["SchedulingEnabled"]);
    await cluster.clock.advance(60_000);
    await settled();
    expect(reasons()).toEqual(["SchedulingEnabled"]);
  });

  it("reports missing objects once, again when they differ, and continues as soon as they exist", async () => {
    const { cluster, patches, patched, lead, settled } = await scene({ syncPeriodMs: 60_000 });
    const envFrom = [{ configMapRef: { name: "web" } }, { secretRef: { name: "db" } }];
    await cluster.create("Deployment", workload("web", { containers: [{ name: "main", image: "nginx", envFrom }] }));
    await cluster.list();
    lead();
    await eventually(() => expect(cluster.events).toHaveLength(1));
    await cluster.clock.advance(120_000);
    await settled();
    await cluster.create("Secret", { metadata: { name: "db" } });
    await cluster.show("Secret", "db");
    await settled();
    expect(cluster.events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)).toEqual([
      'Warning ConfigMissing: Waiting for ConfigMap "web" and Secret "db". Running Pods are not changed.',
      'Warning ConfigMissing: Waiting for ConfigMap "web". Running Pods are not changed.',
    ]);
    expect(patches()).toEqual([]);
    await cluster.create("ConfigMap", { metadata: { name: "web" } });
    await cluster.show("ConfigMap", "web");
    await patched(1);
    await eventually(() => expect(cluster.events.slice(2)).toMatchObject([{ reason: "ConfigHashAdded" }]));
  });

  it("repeats the report of missing objects before its Event expires, until the workload is deleted, and then keeps no state", async () => {
    const { cluster, lead, settled } = await scene();
    await cluster.create("Deployment", workload("web"));
    await cluster.list();
    lead();
    const reported = (count: number) => eventually(() => expect(cluster.events).toHaveLength(count));
    await reported(1);
    await cluster.clock.advance(30_000);
    await eventually(async () =>
      expect((await cluster.get("Deployment", "web"))?.metadata?.annotations).toHaveProperty(["wave.pusher.com/state"]),
    );
    await cluster.show("Deployment", "web");
    // 45 minutes less a tenth, by the random number of these tests.
    await cluster.clock.advance(40 * 60_000 - 1);
    await settled();
    expect(cluster.events).toHaveLength(1);
    await cluster.clock.advance(1);
    await reported(2);
    await cluster.clock.advance(40.5 * 60_000);
    await reported(3);
    expect(new Set(cluster.events.map(({ message }) => message)).size).toBe(1);
    await cluster.remove("Deployment", "web");
    await cluster.show("Deployment", "web");
    await settled();
    const shown = cluster.metrics.render();
    expect(shown).toContain("wave_queue_delayed 0\n");
    expect(shown).toContain('wave_workloads{state="waiting"} 0\n');
    await cluster.clock.advance(3_600_000);
    await settled();
    expect(cluster.events).toHaveLength(3);
  });

  it("reports what pending Pods wait for, and opens the scheduling hold when it exists", async () => {
    const { cluster, patched, lead } = await scene();
    const schedulingHeld = workload(
      "web",
      { schedulerName: "wave.pusher.com/invalid" },
      { "wave.pusher.com/scheduling-disabled": "mine" },
    );
    await cluster.create("Deployment", schedulingHeld);
    await cluster.list();
    lead();
    await eventually(() => expect(cluster.events).toHaveLength(1));
    await cluster.create("ConfigMap", { metadata: { name: "web" } });
    await cluster.show("ConfigMap", "web");
    await patched(1);
    expect(cluster.events).toMatchObject([
      { type: "Warning", reason: "SchedulingDisabled", message: expect.stringContaining('ConfigMap "web"') },
      { type: "Normal", reason: "SchedulingEnabled", message: expect.stringContaining('Waited for ConfigMap "web"') },
    ]);
    expect(await cluster.get("Deployment", "web")).toMatchObject({
      spec: { template: { spec: { schedulerName: "mine" } } },
    });
  });

  it("opens a scheduling hold after 10 minutes, although the object is still missing", async () => {
    const { cluster, patched, lead } = await scene();
    const annotations = { "wave.pusher.com/scheduling-disabled": "mine" };
    await cluster.create("Deployment", workload("web", { schedulerName: "wave.pusher.com/invalid" }, annotations));
    await cluster.list();
    lead();
    await eventually(() => expect(cluster.events).toHaveLength(1));
    await cluster.clock.advance(590_000);
    expect(await cluster.get("Deployment", "web")).toMatchObject({
      spec: { template: { spec: { schedulerName: "wave.pusher.com/invalid" } } },
    });
    await cluster.clock.advance(11_000);
    await patched(1);
    expect(await cluster.get("Deployment", "web")).toMatchObject({
      spec: { template: { spec: { schedulerName: "mine" } } },
    });
    await eventually(() =>
      expect(cluster.events).toContainEqual(
        expect.objectContaining({
          type: "Warning",
          reason: "SchedulingHoldExpired",
          message: expect.stringContaining('Still missing: ConfigMap "web"'),
        }),
      ),
    );
  });

  it("looks for pending Pods while the API server answers no Event", async () => {
    const posted: string[] = [];
    const record = ({ regarding }: ObjectEvent) => {
      posted.push(`${regarding.kind} ${regarding.name}`);
      return new Promise<void>(() => {});
    };
    const { cluster, lead } = await scene({ webhooks: true, recorder: { record } });
    const annotations = { "wave.pusher.com/scheduling-disabled": "mine" };
    const held = { schedulerName: "wave.pusher.com/invalid" };
    await cluster.create("Deployment", workload("web", held, annotations));
    const { spec } = workload("web");
    const set = await cluster.client.request<KubeObject>({
      method: "POST",
      path: "/apis/apps/v1/namespaces/default/replicasets",
      body: { metadata: { name: "web-1" }, spec: { selector: spec.selector, template: spec.template } },
    });
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: set.metadata.uid, controller: true };
    for (const name of ["web-1-a", "web-1-b"]) {
      const metadata = { name, labels: { "pod-template-hash": "1" }, annotations, ownerReferences: [owner] };
      const containers = [{ name: "web", image: "nginx" }];
      const body = { apiVersion: "v1", kind: "Pod", metadata, spec: { ...held, containers } };
      await cluster.client.request({ method: "POST", path: "/api/v1/namespaces/default/pods", body });
    }
    await cluster.list();
    lead();
    await eventually(async () => {
      await cluster.clock.advance(10_000);
      expect(posted).toEqual(expect.arrayContaining(["Pod web-1-a", "Pod web-1-b"]));
    });
  });

  it("writes at the allowed rate, with one patch for all edits during the wait", async () => {
    const { cluster, patches, patched, lead, settled } = await scene({ updateRate: 1, updateBurst: 1 });
    await cluster.create("ConfigMap", { metadata: { name: "web" }, data: { a: "1" } });
    for (const name of ["one", "two", "three"]) await cluster.create("Deployment", workload(name));
    await cluster.list();
    lead();
    await patched(1);
    for (const a of ["2", "3", "4"]) {
      await cluster.edit("ConfigMap", "web", { data: { a } });
      await cluster.show("ConfigMap", "web");
      await settled();
    }
    // "one" has its first hash, and is in line for the edits behind "two" and "three", which stay where they are.
    expect(patches()).toEqual([200]);
    for (const count of [2, 3, 4]) {
      await cluster.clock.advance(999);
      await settled();
      expect(patches()).toHaveLength(count - 1);
      await cluster.clock.advance(1);
      await patched(count);
      expect(patches()).toHaveLength(count);
    }
    await cluster.clock.advance(10_000);
    await settled();
    expect(patches()).toEqual([200, 200, 200, 200]);
  });

  it("finishes the write in flight and its Event when it is stopped, and starts no new write", async () => {
    const reported: string[] = [];
    const release = Promise.withResolvers<void>();
    const record = async ({ reason }: ObjectEvent) => {
      await release.promise;
      reported.push(reason);
    };
    const { cluster, sandbox, patches, settled, leading } = await steady({ workers: 1, recorder: { record } });
    const slow = patchesOf("web", { type: "delay", ms: 100 }, 1);
    const arrived = Promise.withResolvers<void>();
    const match = (request: { readonly method: string; readonly path: string }) => {
      if (slow.match(request)) arrived.resolve();
      return slow.match(request);
    };
    sandbox.faults.add({ ...slow, match });
    await cluster.create("Deployment", workload("late"));
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await eventually(() => expect(patches()).toEqual([200, 0]));
    await cluster.show("Deployment", "late");
    let stopped = false;
    const stopping = leading.stop().then(() => {
      stopped = true;
    });
    await arrived.promise;
    await settled();
    await cluster.clock.advance(100);
    await eventually(() => expect(patches()).toEqual([200, 200]));
    await settled();
    expect(stopped).toBe(false);
    release.resolve();
    await stopping;
    expect(patches()).toEqual([200, 200]);
    expect(reported).toEqual(["ConfigHashAdded", "ConfigChanged"]);
  });

  it("waits at most a second for Events when it is stopped, because no other replica leads before that", async () => {
    const underWay: string[] = [];
    const record = ({ reason }: ObjectEvent) => {
      underWay.push(reason);
      return new Promise<void>(() => {});
    };
    const { cluster, settled, lead } = await scene({ recorder: { record } });
    const missing = { containers: [{ name: "main", image: "nginx", envFrom: [{ secretRef: { name: "missing" } }] }] };
    for (let index = 0; index < 40; index++) await cluster.create("Deployment", workload(`web-${index}`, missing));
    await cluster.list();
    const leading = lead();
    await eventually(() => expect(underWay).toHaveLength(4));
    let stopped = false;
    const stopping = leading.stop().then(() => {
      stopped = true;
    });
    await eventually(() => expect(underWay).toHaveLength(32));
    await cluster.clock.advance(999);
    await settled();
    expect(stopped).toBe(false);
    await cluster.clock.advance(1);
    await stopping;
    expect(underWay).toHaveLength(32);
  });

  it("aborts the write in flight when leadership is lost, and writes no Event", async () => {
    const { cluster, sandbox, patches, reasons, leading } = await steady();
    sandbox.faults.add(patchesOf("web", { type: "blackHole" }));
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await eventually(() => expect(patches()).toEqual([200, 0]));
    await leading.abort();
    expect(patches()).toEqual([200, -1]);
    expect(reasons()).toEqual(["ConfigHashAdded"]);
  });

  it("sends nothing after the lease expired by its clock, even before it is notified", async () => {
    const { cluster, patches, reasons, lead, settled } = await scene();
    await cluster.create("ConfigMap", { metadata: { name: "web" } });
    await cluster.create("Deployment", workload("web"));
    await cluster.list();
    lead(() => false);
    await settled();
    expect(patches()).toEqual([]);
    expect(reasons()).toEqual([]);
  });

  it("writes later what it could not write while the clock briefly showed an expired lease", async () => {
    const { cluster, patches, patched, lead, settled } = await scene();
    await cluster.create("ConfigMap", { metadata: { name: "web" } });
    await cluster.create("Deployment", workload("web"));
    await cluster.list();
    let valid = false;
    lead(() => valid);
    await settled();
    expect(patches()).toEqual([]);
    valid = true;
    await cluster.clock.advance(200);
    await patched(1);
    expect(patches()).toEqual([200]);
  });

  it("rolls what changed between two leaderships, and writes nothing else", async () => {
    const { cluster, patches, patched, leading, lead, reasons, settled } = await steady();
    await cluster.create("ConfigMap", { metadata: { name: "other" } });
    const containers = [{ name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "other" } }] }];
    await cluster.create("Deployment", workload("other", { containers }));
    await cluster.show("ConfigMap", "other");
    await cluster.show("Deployment", "other");
    await patched(2);
    await cluster.show("Deployment", "other");
    await leading.stop();
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await settled();
    expect(patches()).toEqual([200, 200]);
    lead();
    await patched(3);
    expect(patches()).toEqual([200, 200, 200]);
    expect(reasons()).toEqual(["ConfigHashAdded", "ConfigRecorded", "ConfigChanged"]);
  });

  it("plans nothing before every cache has its first list", async () => {
    const { cluster, lead, patches, patched, settled } = await scene();
    await cluster.create("Deployment", workload("web"));
    await cluster.create("ConfigMap", { metadata: { name: "web" } });
    lead();
    await settled();
    expect(cluster.events).toEqual([]);
    await cluster.list();
    await patched(1);
    expect(cluster.events).toMatchObject([{ reason: "ConfigHashAdded" }]);
    expect(patches()).toEqual([200]);
  });

  it("counts its outcomes", async () => {
    const { cluster, patched } = await steady();
    await cluster.edit("ConfigMap", "web", { data: { a: "2" } });
    await cluster.show("ConfigMap", "web");
    await patched(2);
    const shown = cluster.metrics.render();
    expect(shown).toContain('wave_outcomes_total{kind="Deployment",outcome="firstHash"} 1\n');
    expect(shown).toContain('wave_outcomes_total{kind="Deployment",outcome="roll"} 1\n');
    expect(shown).toContain('wave_outcomes_total{kind="DaemonSet",outcome="refused"} 0\n');
    expect(shown).toContain('wave_change_to_patch_seconds_count{kind="Deployment"} 1\n');
    expect(shown).toContain('wave_workloads{state="current"} 1\n');
    expect(shown).toContain('wave_workloads{state="waiting"} 0\n');
    expect(shown).toContain("wave_queue_depth 0\n");
  });

  it("logs one line for each write, with names and without values", async () => {
    const { cluster, patched } = await steady();
    await cluster.edit("ConfigMap", "web", { data: { a: "a value of its own" } });
    await cluster.show("ConfigMap", "web");
    await patched(2);
    expect(cluster.logged).toHaveLength(2);
    expect(cluster.logged[1]).toMatchObject({
      message: "patched",
      fields: { kind: "Deployment", namespace: "default", name: "web", outcome: "roll" },
    });
    expect(JSON.stringify([cluster.logged, cluster.events])).not.toContain("a value of its own");
  });
});
