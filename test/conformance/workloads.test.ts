import { expect, it } from "vitest";
import type { Body } from "./api.ts";
import { describeApiServers, eventually } from "./targets.ts";

const merge = "application/merge-patch+json";

interface WorkloadStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly updatedReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly numberAvailable?: number;
  readonly updatedNumberScheduled?: number;
}

describeApiServers("workloads", (target) => {
  const apps = (plural: string) => `/apis/apps/v1/namespaces/${target().namespaceName}/${plural}`;
  const list = async (path: string, app: string): Promise<Body[]> => {
    const { body } = await target().api.call("GET", path, { query: { labelSelector: `app=${app}` } });
    return body.items as Body[];
  };
  const pods = (app: string) => list(`${target().namespace}/pods`, app);
  const running = async (app: string) => {
    const found = await pods(app);
    return found.filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && isRunning(status));
  };
  const isRunning = (status: unknown) => (status as { phase: string }).phase === "Running";
  const spec = (app: string, more: object = {}, podSpec: object = {}) => ({
    metadata: { name: app },
    spec: {
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app } }, spec: { containers: [{ name: "c", image: "c:1" }], ...podSpec } },
      ...more,
    },
  });
  const get = async (plural: string, name: string) => (await target().api.call("GET", `${apps(plural)}/${name}`)).body;
  const statusOf = async (plural: string, name: string) => (await get(plural, name)).status as WorkloadStatus;
  const change = (plural: string, name: string, body: object) => {
    return target().api.call("PATCH", `${apps(plural)}/${name}`, { body, contentType: merge });
  };
  const hash = (value: string) => ({ spec: { template: { metadata: { annotations: { hash: value } } } } });
  const rolledOut = (name: string, replicas: number) => () =>
    Promise.all([get("deployments", name), pods(name)]).then(([{ metadata, status }, found]) => {
      const { observedGeneration, updatedReplicas, readyReplicas, replicas: all } = status as WorkloadStatus;
      const current = observedGeneration === metadata.generation && updatedReplicas === replicas;
      return current && readyReplicas === replicas && all === replicas && found.length === replicas;
    });

  it("of kind Deployment get Pods through a ReplicaSet, which is the owner of the Pods", async () => {
    await target().api.call("POST", apps("deployments"), { body: spec("owned", { replicas: 2 }) });
    await eventually(rolledOut("owned", 2));
    const [replicaSet, ...more] = await list(apps("replicasets"), "owned");
    expect(more).toEqual([]);
    const found = await pods("owned");
    expect(found.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)).toEqual([
      replicaSet?.metadata.uid,
      replicaSet?.metadata.uid,
    ]);
    const deployment = await get("deployments", "owned");
    expect(deployment.metadata.annotations).toEqual({ "deployment.kubernetes.io/revision": "1" });
    expect(deployment.metadata.generation).toBe(1);
    expect(deployment.status).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: "Available", status: "True" }),
        expect.objectContaining({ type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" }),
      ]),
    });
  });

  it("of kind Deployment copy their annotations to the ReplicaSet, where rollout undo finds them", async () => {
    const body = { ...spec("handed", { replicas: 0 }), metadata: { name: "handed", annotations: { a: "1", b: "1" } } };
    await target().api.call("POST", apps("deployments"), { body });
    const annotations = async () => (await list(apps("replicasets"), "handed"))[0]?.metadata.annotations ?? {};
    await eventually(async () => (await annotations()).a === "1");
    await change("deployments", "handed", { metadata: { annotations: { a: "2", b: null } } });
    await eventually(async () => (await annotations()).a === "2");
    // A removed annotation stays on the ReplicaSet.
    expect(await annotations()).toMatchObject({ a: "2", b: "1", "deployment.kubernetes.io/revision": "1" });
  });

  it("of kind Deployment roll exactly once for one change of the template, and not for labels or replicas", async () => {
    await target().api.call("POST", apps("deployments"), { body: spec("once", { replicas: 2 }) });
    await eventually(rolledOut("once", 2));
    const before = (await pods("once")).map(({ metadata }) => metadata.uid);
    await change("deployments", "once", { metadata: { labels: { app: "once" }, annotations: { a: "b" } } });
    await change("deployments", "once", { spec: { replicas: 3 } });
    await eventually(rolledOut("once", 3));
    expect(await list(apps("replicasets"), "once")).toHaveLength(1);
    expect((await pods("once")).map(({ metadata }) => metadata.uid)).toEqual(expect.arrayContaining(before));
    await change("deployments", "once", hash("1"));
    await eventually(rolledOut("once", 3));
    expect(await list(apps("replicasets"), "once")).toHaveLength(2);
    const after = await pods("once");
    expect(after.filter(({ metadata }) => before.includes(metadata.uid))).toEqual([]);
    expect(after.every(({ metadata }) => metadata.annotations?.hash === "1")).toBe(true);
  });

  it("of kind Deployment use an earlier ReplicaSet again for an earlier template", async () => {
    await target().api.call("POST", apps("deployments"), { body: spec("back", { replicas: 1 }) });
    await eventually(rolledOut("back", 1));
    await change("deployments", "back", hash("1"));
    await eventually(rolledOut("back", 1));
    await change("deployments", "back", { spec: { template: { metadata: { annotations: null } } } });
    await eventually(rolledOut("back", 1));
    const replicaSets = await list(apps("replicasets"), "back");
    const revisions = replicaSets.map(({ metadata }) => metadata.annotations?.["deployment.kubernetes.io/revision"]);
    expect(revisions.toSorted()).toEqual(["2", "3"]);
  });

  it("of kind Deployment that are paused do not roll until they are resumed", async () => {
    await target().api.call("POST", apps("deployments"), { body: spec("paused", { replicas: 1 }) });
    await eventually(rolledOut("paused", 1));
    await change("deployments", "paused", { spec: { paused: true } });
    const { body } = await change("deployments", "paused", hash("1"));
    await eventually(
      async () => (await statusOf("deployments", "paused")).observedGeneration === body.metadata.generation,
    );
    expect(await list(apps("replicasets"), "paused")).toHaveLength(1);
    await change("deployments", "paused", { spec: { paused: null } });
    await eventually(rolledOut("paused", 1));
    expect(await list(apps("replicasets"), "paused")).toHaveLength(2);
  });

  it("of kind StatefulSet number their Pods and replace them for a change of the template", async () => {
    const body = spec("numbered", { replicas: 2, serviceName: "numbered" });
    await target().api.call("POST", apps("statefulsets"), { body });
    await eventually(async () => (await statusOf("statefulsets", "numbered")).readyReplicas === 2);
    const before = await pods("numbered");
    expect(before.map(({ metadata }) => metadata.name)).toEqual(["numbered-0", "numbered-1"]);
    const { body: changed } = await change("statefulsets", "numbered", hash("1"));
    await eventually(async () => {
      const { observedGeneration, readyReplicas, updatedReplicas, currentRevision, updateRevision } = await statusOf(
        "statefulsets",
        "numbered",
      );
      if (observedGeneration !== changed.metadata.generation) return false;
      return readyReplicas === 2 && updatedReplicas === 2 && currentRevision === updateRevision;
    });
    const after = await pods("numbered");
    expect(after.map(({ metadata }) => metadata.name)).toEqual(["numbered-0", "numbered-1"]);
    expect(after.every(({ metadata }) => metadata.annotations?.hash === "1")).toBe(true);
    expect(await list(apps("controllerrevisions"), "numbered")).toHaveLength(2);
  });

  it("of kind StatefulSet with OnDelete keep Pods until a client deletes them", async () => {
    const body = spec("manual", { replicas: 1, serviceName: "manual", updateStrategy: { type: "OnDelete" } });
    await target().api.call("POST", apps("statefulsets"), { body });
    await eventually(async () => (await statusOf("statefulsets", "manual")).readyReplicas === 1);
    const { body: changed } = await change("statefulsets", "manual", hash("1"));
    await eventually(
      async () => (await statusOf("statefulsets", "manual")).observedGeneration === changed.metadata.generation,
    );
    expect((await pods("manual"))[0]?.metadata.annotations?.hash).toBeUndefined();
    await target().api.call("DELETE", `${target().namespace}/pods/manual-0`);
    await eventually(async () => (await running("manual"))[0]?.metadata.annotations?.hash === "1");
  });

  it("of kind DaemonSet replace their Pods for a change of the template", async () => {
    await target().api.call("POST", apps("daemonsets"), { body: spec("daemon") });
    await eventually(async () => (await statusOf("daemonsets", "daemon")).numberAvailable === 1);
    const [before] = await pods("daemon");
    await change("daemonsets", "daemon", hash("1"));
    await eventually(async () => {
      const { numberAvailable, updatedNumberScheduled } = await statusOf("daemonsets", "daemon");
      const found = await running("daemon");
      return numberAvailable === 1 && updatedNumberScheduled === 1 && found[0]?.metadata.annotations?.hash === "1";
    });
    expect((await running("daemon"))[0]?.metadata.uid).not.toBe(before?.metadata.uid);
  });

  it("for a scheduler that does not exist keep their Pods Pending until they get another scheduler", async () => {
    const body = spec("on-hold", { replicas: 1 }, { schedulerName: "wave.pusher.com/invalid" });
    await target().api.call("POST", apps("deployments"), { body });
    await eventually(async () => (await pods("on-hold")).length === 1);
    // A Pod of another Deployment that was created later runs; this Pod still does not.
    await target().api.call("POST", apps("deployments"), { body: spec("later", { replicas: 1 }) });
    await eventually(rolledOut("later", 1));
    expect(await running("on-hold")).toEqual([]);
    await change("deployments", "on-hold", {
      spec: { template: { spec: { schedulerName: "default-scheduler" } } },
    });
    await eventually(rolledOut("on-hold", 1));
  });

  it("that are deleted delete their ReplicaSets and Pods", async () => {
    await target().api.call("POST", apps("deployments"), { body: spec("gone", { replicas: 2 }) });
    await eventually(rolledOut("gone", 2));
    const { body } = await target().api.call("DELETE", `${apps("deployments")}/gone`);
    expect(body).toMatchObject({ kind: "Status", status: "Success" });
    await eventually(async () => (await pods("gone")).length === 0);
    await eventually(async () => (await list(apps("replicasets"), "gone")).length === 0);
  });

  it("that are deleted in the foreground are removed last", async () => {
    await target().api.call("POST", apps("deployments"), { body: spec("last", { replicas: 1 }) });
    await eventually(rolledOut("last", 1));
    const options = { propagationPolicy: "Foreground" };
    await target().api.call("DELETE", `${apps("deployments")}/last`, { body: options });
    await eventually(async () => (await target().api.call("GET", `${apps("deployments")}/last`)).status === 404);
    expect(await list(apps("replicasets"), "last")).toEqual([]);
    expect(await pods("last")).toEqual([]);
  });

  it("scale through their scale subresource", async () => {
    await target().api.call("POST", apps("deployments"), { body: spec("scaled", { replicas: 1 }) });
    const path = `${apps("deployments")}/scaled/scale`;
    const { body: scale } = await target().api.call("GET", path);
    expect(scale).toMatchObject({ kind: "Scale", apiVersion: "autoscaling/v1", spec: { replicas: 1 } });
    // Without a resourceVersion: the controllers write the Deployment's status meanwhile.
    const metadata = { name: scale.metadata.name, namespace: target().namespaceName };
    await target().api.call("PUT", path, {
      body: { kind: "Scale", apiVersion: "autoscaling/v1", metadata, spec: { replicas: 0 } },
    });
    expect((await get("deployments", "scaled")).spec).toMatchObject({ replicas: 0 });
  });

  it.each(["Foreground", "Background"])(
    "keep objects that have another owner too, when they are deleted in the %s",
    async (how) => {
      const name = `owner-${how.toLowerCase()}`;
      const { body: owner } = await target().api.call("POST", apps("deployments"), {
        body: spec(name, { replicas: 0 }),
      });
      const { body: namespace } = await target().api.call("GET", target().namespace);
      const deployment = { apiVersion: "apps/v1", kind: "Deployment", name, uid: owner.metadata.uid };
      const { name: namespaceName, uid } = namespace.metadata;
      const other = { apiVersion: "v1", kind: "Namespace", name: namespaceName, uid };
      const path = `${target().namespace}/configmaps`;
      for (const [own, ownerReferences] of [
        [`${name}-alone`, [deployment]],
        [`${name}-shared`, [deployment, other]],
      ] as const) {
        await target().api.call("POST", path, { body: { metadata: { name: own, ownerReferences } } });
      }
      await target().api.call("DELETE", `${apps("deployments")}/${name}`, { query: { propagationPolicy: how } });
      await eventually(async () => (await target().api.call("GET", `${path}/${name}-alone`)).status === 404);
      const shared = () => target().api.call("GET", `${path}/${name}-shared`);
      await eventually(async () => (await shared()).body.metadata.ownerReferences?.length === 1);
      expect((await shared()).body.metadata.ownerReferences).toMatchObject([{ kind: "Namespace" }]);
    },
  );
});
