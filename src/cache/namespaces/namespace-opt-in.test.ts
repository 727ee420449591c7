import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeWatch } from "../../../test/support/fake-watch.ts";
import type { Workload } from "../../domain/model/workload-shape.ts";
import { type LogFields, silentLogger } from "../../telemetry/logging/log.ts";
import { MetricsRegistry } from "../../telemetry/metrics/metrics.ts";
import { cachesOver } from "../cluster-cache.ts";
import type { StoreChange } from "../store/store.ts";

const optIn = "wave.pusher.com/update-on-config-change";
const hold = "wave.pusher.com/hold";
const workloadKinds = ["deployments", "statefulsets", "daemonsets"];
const running: AbortController[] = [];

afterEach(() => {
  for (const each of running.splice(0)) each.abort();
});

function namespace(name: string, annotations: Readonly<Record<string, string>> = {}) {
  return { metadata: { name, uid: name, resourceVersion: "1", annotations } };
}

function workload(name: string, more: object = {}, envFrom = "c") {
  const containers = [{ name: "main", envFrom: [{ configMapRef: { name: envFrom } }] }];
  const metadata = { name, namespace: "shop", uid: name, resourceVersion: "1", generation: 1, ...more };
  return { metadata, spec: { template: { spec: { containers } } } };
}

function start(namespaces?: readonly string[]) {
  const fake = new FakeWatch({ listsNamespaces: false });
  const clock = new FakeClock();
  const changes: StoreChange<Workload>[] = [];
  const namespaceChanges: string[] = [];
  const warned: (LogFields | undefined)[] = [];
  const caches = cachesOver(fake, {
    namespaces,
    clock,
    log: { ...silentLogger, warn: (_, fields) => void warned.push(fields) },
    metrics: new MetricsRegistry(),
    random: () => 1,
    onWorkloadChange: (change) => changes.push(change),
    onConfigChange: () => {},
    onNamespaceChange: (name) => namespaceChanges.push(name),
  });
  const end = new AbortController();
  running.push(end);
  void caches.run(end.signal);
  const names = () => Array.from(caches.workloads(), ({ name }) => name);
  const say = (annotations: Readonly<Record<string, string>>) =>
    fake.feed("namespaces").push({ type: "apply", object: namespace("shop", annotations) });
  return { fake, caches, clock, changes, namespaceChanges, warned, names, say };
}

type Scene = ReturnType<typeof start>;

/** Everything listed once, with nothing in it but these Deployments. */
async function listed(
  scene: Scene,
  deployments: readonly object[],
  namespaces: readonly object[] = [namespace("shop")],
) {
  const { fake } = scene;
  await fake.feed("namespaces").list(...namespaces);
  for (const each of ["configmaps", "secrets", "statefulsets", "daemonsets"]) await fake.feed(each).list();
  await fake.feed("deployments").list(...deployments);
}

/** Answers the requested lists of a namespace in order. */
async function answer({ fake }: Scene, deployments: readonly object[], name = "shop") {
  await fake.feed(`list of deployments/${name}`).list(...deployments);
  for (const each of ["statefulsets", "daemonsets"]) await fake.feed(`list of ${each}/${name}`).list();
}

describe("the opt-in of a Namespace", () => {
  it("is known before workloads are listed, so that these are listed once", async () => {
    const scene = start();
    const { fake, caches, clock, names } = scene;
    void fake.feed("deployments").list(workload("web"));
    for (const each of ["configmaps", "secrets", "statefulsets", "daemonsets"]) void fake.feed(each).list();
    await eventually(() => expect(fake.watched.map(({ resource }) => resource.plural)).toContain("secrets"));
    expect(fake.watched.map(({ resource }) => resource.plural)).not.toContain("deployments");
    expect(caches.synced).toBe(false);
    await fake.feed("namespaces").list(namespace("shop", { [optIn]: "true" }));
    await eventually(() => expect(caches.synced).toBe(true));
    expect(names()).toEqual(["web"]);
    expect(caches.workload("Deployment/shop/web")?.optIn).toEqual({ state: "in", by: "namespace" });
    expect([...caches.workloadsReading("ConfigMap/shop/c")]).toEqual(["Deployment/shop/web"]);
    await clock.advance(60_000);
    expect(fake.listed).toEqual([]);
  });

  it("lists the workloads of the namespace when it is added, and drops them when it is removed", async () => {
    const scene = start();
    const { fake, names, say, changes, namespaceChanges, clock } = scene;
    const refusing = workload("refusing", { annotations: { [optIn]: "false" } });
    const own = workload("own", { annotations: { [optIn]: "true" } });
    await listed(scene, [workload("web"), refusing, own]);
    expect(names()).toEqual(["own"]);
    await say({ [optIn]: "true" });
    await answer(scene, [workload("web"), refusing, own]);
    expect(names()).toEqual(["own", "web"]);
    expect(changes.at(-1)).toMatchObject({ key: "Deployment/shop/web", before: undefined, initial: false });
    await say({});
    await clock.advance(10_000);
    await answer(scene, [workload("web"), refusing, own]);
    expect(names()).toEqual(["own"]);
    expect(namespaceChanges).toEqual(["shop", "shop", "shop"]);
    expect(fake.listed).toHaveLength(6);
  });

  it("affects later events of the watch", async () => {
    const scene = start();
    const { fake, names, say } = scene;
    await listed(scene, []);
    await say({ [optIn]: "true" });
    await fake.feed("deployments").push({ type: "apply", object: workload("web") });
    expect(names()).toEqual(["web"]);
    await say({});
    await fake.feed("deployments").push({ type: "apply", object: workload("web", { resourceVersion: "2" }) });
    expect(names()).toEqual([]);
  });

  it("lists nothing for other changes of a Namespace, and reports them", async () => {
    const scene = start();
    const { fake, caches, say, namespaceChanges } = scene;
    await listed(scene, [workload("web")], [namespace("shop", { [optIn]: "true" })]);
    await say({ [optIn]: "true", [hold]: "true", other: "x" });
    await say({ [optIn]: "true", [hold]: "true", other: "y" });
    expect(caches.namespace("shop")).toEqual({
      optsIn: true,
      annotations: { hold: "true" },
      unselected: false,
      deleting: false,
    });
    expect(caches.namespace("elsewhere")).toBeUndefined();
    expect(Array.from(caches.workloadsIn("shop"), ({ name }) => name)).toEqual(["web"]);
    expect([...caches.workloadsIn("elsewhere")]).toEqual([]);
    expect(namespaceChanges).toEqual(["shop", "shop"]);
    expect(fake.listed).toEqual([]);
  });

  it("ignores objects of a list that the watch has delivered meanwhile", async () => {
    const scene = start();
    const { fake, caches, names, say } = scene;
    await listed(scene, [workload("moved"), workload("gone"), workload("web")]);
    await say({ [optIn]: "true" });
    const list = fake.feed("list of deployments/shop");
    await list.push({ type: "init" });
    const moved = workload("moved", { generation: 2 }, "d");
    await fake.feed("deployments").push({ type: "apply", object: moved });
    await fake.feed("deployments").push({ type: "delete", object: workload("gone") });
    const objects = [workload("moved"), workload("gone"), workload("web")];
    await list.push(...objects.map((object) => ({ type: "initApply" as const, object })), { type: "initDone" });
    expect(names().toSorted()).toEqual(["moved", "web"]);
    expect(caches.workload("Deployment/shop/moved")?.references[0]?.name).toBe("d");
  });

  it("ignores a list during which the watch lists everything again", async () => {
    const scene = start();
    const { fake, names, say } = scene;
    await listed(scene, [workload("gone")]);
    await say({ [optIn]: "true" });
    const list = fake.feed("list of deployments/shop");
    await list.push({ type: "init" });
    await fake.feed("deployments").list(workload("web"));
    await list.push({ type: "initApply", object: workload("gone") }, { type: "initDone" });
    expect(names()).toEqual(["web"]);
  });

  it("delays its list while the watch lists, because that list may have skipped workloads that have opted in now", async () => {
    const scene = start();
    const { fake, names, say, clock } = scene;
    await listed(scene, [workload("web")]);
    const watch = fake.feed("deployments");
    await watch.push({ type: "init" }, { type: "initApply", object: workload("web") });
    await say({ [optIn]: "true" });
    expect(fake.listed).toEqual([]);
    await watch.push({ type: "initDone" });
    expect(names()).toEqual([]);
    await clock.advance(1_000);
    await answer(scene, [workload("web")]);
    expect(names()).toEqual(["web"]);
  });

  it("lists the namespace at most every ten seconds if it keeps changing, and no other namespace waits", async () => {
    const scene = start();
    const { fake, say, names, clock } = scene;
    await listed(scene, [], [namespace("shop"), namespace("other")]);
    await say({ [optIn]: "true" });
    await answer(scene, [workload("web")]);
    for (let i = 0; i < 20; i++) await say(i % 2 === 0 ? {} : { [optIn]: "true" });
    expect(fake.listed).toHaveLength(workloadKinds.length);
    const other = namespace("other", { [optIn]: "true" });
    await fake.feed("namespaces").push({ type: "apply", object: other });
    await answer(scene, [workload("theirs", { namespace: "other" })], "other");
    expect(names().toSorted()).toEqual(["theirs", "web"]);
    await clock.advance(9_999);
    expect(fake.listed).toHaveLength(2 * workloadKinds.length);
    await clock.advance(1);
    await answer(scene, [workload("web")]);
    expect(fake.listed).toHaveLength(3 * workloadKinds.length);
  });

  it("is retried if the namespace cannot be listed, which is logged once", async () => {
    const scene = start();
    const { fake, say, names, warned, clock } = scene;
    await listed(scene, []);
    await say({ [optIn]: "true" });
    const list = fake.feed("list of deployments/shop");
    await list.push({ type: "initFailed", reason: "no connection" });
    await clock.advance(500);
    await list.push({ type: "initFailed", reason: "no connection" });
    expect(warned).toEqual([{ namespace: "shop", error: "no connection" }]);
    await clock.advance(1_000);
    await answer(scene, [workload("web")]);
    expect(names()).toEqual(["web"]);
  });

  it("is watched by name if Wave is limited to some namespaces, and each namespace waits only for its own Namespace", async () => {
    const { fake, caches, names } = start(["shop", "absent"]);
    const selectors = () =>
      fake.watched.filter(({ resource }) => resource.plural === "namespaces").map(({ fieldSelector }) => fieldSelector);
    expect(selectors()).toEqual(["metadata.name=shop", "metadata.name=absent"]);
    await fake.feed("namespaces/shop").list(namespace("shop", { [optIn]: "true" }));
    for (const each of ["configmaps", "secrets", ...workloadKinds]) {
      await fake.feed(`${each}/shop`).list(...(each === "deployments" ? [workload("web")] : []));
    }
    const why = "cannot watch namespaces: forbidden. Grant list and watch on namespaces with name absent.";
    await fake.feed("namespaces/absent").push({ type: "initFailed", reason: why });
    expect(caches.synced).toBe(true);
    expect(caches.notes()).toEqual([why]);
    expect(names()).toEqual(["web"]);
  });
});
