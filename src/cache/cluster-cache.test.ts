import { afterEach, describe, expect, it } from "vitest";
import { podStatus } from "../../test/support/domain/pod-status.ts";
import { eventually } from "../../test/support/eventually.ts";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeWatch } from "../../test/support/fake-watch.ts";
import { type Config, digestOf, toConfig } from "../domain/config/digest.ts";
import type { Workload } from "../domain/model/workload-shape.ts";
import type { LogFields, Logger } from "../telemetry/logging/log.ts";
import { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import { type CachesOptions, cachesOver } from "./cluster-cache.ts";
import { liveLookup } from "./live/live-configs.ts";
import type { Watch } from "./store/kind-cache.ts";
import type { StoreChange } from "./store/store.ts";

const started: AbortController[] = [];
const kinds = ["configmaps", "secrets", "deployments", "statefulsets", "daemonsets"];

function start(
  namespaces?: readonly string[],
  { listsNamespaces = true, ...options }: { listsNamespaces?: boolean } & Partial<CachesOptions> = {},
) {
  const fake = new FakeWatch({ listsNamespaces });
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      lines.push({ level, message, fields });
  const log: Logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const workloadChanges: StoreChange<Workload>[] = [];
  const configChanges: StoreChange<Config>[] = [];
  const namespaceChanges: string[] = [];
  const onWorkload = [(change: StoreChange<Workload>) => workloadChanges.push(change)];
  const metrics = new MetricsRegistry();
  const clock = new FakeClock();
  const caches = cachesOver(fake, {
    namespaces,
    ...options,
    clock,
    log,
    metrics,
    onWorkloadChange: (change) => {
      for (const listener of onWorkload) listener(change);
    },
    onConfigChange: (change) => configChanges.push(change),
    onNamespaceChange: (namespace) => namespaceChanges.push(namespace),
    random: () => 1,
  });
  const controller = new AbortController();
  started.push(controller);
  const running = caches.run(controller.signal);
  const told = { workloadChanges, configChanges, namespaceChanges };
  return { fake, caches, lines, metrics, clock, onWorkload, ...told, controller, running };
}

const meta = (name: string, more: object = {}) => ({ name, namespace: "ns", uid: "u", resourceVersion: "1", ...more });
const configMap = (name: string, data: Readonly<Record<string, string>>, more: object = {}) => ({
  metadata: meta(name, more),
  data,
});
const optIn = { "wave.pusher.com/update-on-config-change": "true" };

function deployment(
  name: string,
  configMaps: readonly string[],
  annotations: Readonly<Record<string, string>> = optIn,
) {
  const envFrom = configMaps.map((each) => ({ configMapRef: { name: each } }));
  const template = { spec: { containers: [{ name: "main", image: "nginx", envFrom }] } };
  return { metadata: meta(name, { annotations, generation: 1 }), spec: { template } };
}

/** With the scheduler that does not exist, which only Wave lifts. */
function unschedulable({ metadata, spec }: ReturnType<typeof deployment>) {
  const template = { spec: { ...spec.template.spec, schedulerName: "wave.pusher.com/invalid" } };
  return { metadata, spec: { template } };
}

afterEach(() => {
  for (const controller of started.splice(0)) controller.abort();
});

describe("a namespace that exceeds its limit", () => {
  const named = (i: number) => Array.from({ length: 990 }, (_, j) => `m-${i}-${j}`);
  const extra = (i: number) => ({ ...optIn, "wave.pusher.com/extra-configmaps": named(i).join(",") });
  const greedy = (i: number, more: object = {}) => {
    const { metadata, spec } = deployment(`w${i}`, [], extra(i));
    return { metadata: { ...metadata, ...more }, spec };
  };

  it("keeps the rest of its workloads by name only, and those of other namespaces completely", async () => {
    const { fake, caches, metrics, configChanges } = start();
    for (const each of ["configmaps", "secrets", "statefulsets", "daemonsets"]) await fake.feed(each).list();
    await fake.feed("deployments").list(...Array.from({ length: 200 }, (_, i) => greedy(i)));
    const references = (i: number) => caches.workload(`Deployment/ns/w${i}`)?.references.length;
    expect(references(0)).toBe(990);
    expect(references(199)).toBe(0);
    expect(caches.workload("Deployment/ns/w199")?.limitExceeded).toEqual({ limit: "namespace", count: 21 });
    expect([...caches.workloadsReading("ConfigMap/ns/m-199-0")]).toEqual([]);
    const kept = Array.from({ length: 200 }, (_, i) => references(i) ?? 0).reduce((sum, count) => sum + count);
    expect(kept).toBeGreaterThan(20_000);
    expect(kept).toBeLessThan(24_000);
    expect(metrics.render()).toContain(`wave_cache_left_out_objects ${200 - kept / 990}\n`);

    const wide = Object.fromEntries(Array.from({ length: 4_900 }, (_, i) => [`key-${i}`, ""]));
    for (const name of ["one", "two", "three"]) {
      await fake.feed("configmaps").push({ type: "apply", object: configMap(name, wide) });
    }
    expect(configChanges.at(-1)?.after).toMatchObject({ keys: [], limitExceeded: { limit: "namespace", count: 21 } });
    const elsewhere = configMap("wide", wide, { namespace: "other" });
    await fake.feed("configmaps").push({ type: "apply", object: elsewhere });
    expect(configChanges.at(-1)?.after?.keys).toHaveLength(4_900);
  });

  it("caches them completely when there is room, at their next event or list", async () => {
    const { fake, caches, metrics } = start();
    for (const each of ["configmaps", "secrets", "statefulsets", "daemonsets"]) await fake.feed(each).list();
    await fake.feed("deployments").list(...Array.from({ length: 40 }, (_, i) => greedy(i)));
    expect(caches.workload("Deployment/ns/w39")?.limitExceeded?.limit).toBe("namespace");
    for (let i = 0; i < 20; i++) await fake.feed("deployments").push({ type: "delete", object: greedy(i) });
    await fake.feed("deployments").push({ type: "apply", object: greedy(39, { resourceVersion: "2" }) });
    expect(caches.workload("Deployment/ns/w39")?.references).toHaveLength(990);
    await fake.feed("deployments").list(...Array.from({ length: 20 }, (_, i) => greedy(20 + i)));
    expect(caches.workload("Deployment/ns/w38")?.references).toHaveLength(990);
    expect(metrics.render()).toContain("wave_cache_left_out_objects 0\n");
  });

  it("keeps its whole limit when lists break off", async () => {
    const { fake, caches, metrics } = start();
    for (const each of ["configmaps", "secrets", "statefulsets", "daemonsets"]) await fake.feed(each).list();
    const deployments = fake.feed("deployments");
    await deployments.list(...Array.from({ length: 5 }, (_, i) => greedy(i)));
    for (let broken = 0; broken < 20; broken++) {
      const listed = [5, 6, 7].map((i) => ({ type: "initApply" as const, object: greedy(i) }));
      await deployments.push({ type: "init" }, ...listed, { type: "delete", object: greedy(7) });
    }
    await deployments.list(...Array.from({ length: 7 }, (_, i) => greedy(i)));
    expect(caches.workload("Deployment/ns/w6")?.references).toHaveLength(990);
    for (let i = 7; i < 20; i++) await deployments.push({ type: "apply", object: greedy(i) });
    expect(caches.workload("Deployment/ns/w19")?.references).toHaveLength(990);
    expect(metrics.render()).toContain("wave_cache_left_out_objects 0\n");
  });
});

describe("the caches", () => {
  it("contain digests of configuration, and workloads with the index of their references", async () => {
    const { fake, caches } = start();
    await fake.feed("configmaps").list(configMap("c", { key: "value" }));
    await fake.feed("secrets").list({ metadata: meta("s"), data: { key: "dmFsdWU=" } });
    await fake.feed("deployments").list(deployment("web", ["c", "absent"]));
    const config = caches.lookup("ConfigMap", "ns", "c");
    const secret = caches.lookup("Secret", "ns", "s");
    expect(config && digestOf(config, "key")).toHaveLength(32);
    expect(secret && digestOf(secret, "key")).toBe(config && digestOf(config, "key"));
    expect(JSON.stringify([config, secret])).not.toMatch(/"value|dmFs/);
    expect(caches.workload("Deployment/ns/web")?.name).toBe("web");
    expect(Array.from(caches.workloads(), ({ name }) => name)).toEqual(["web"]);
    expect([...caches.workloadsReading("ConfigMap/ns/c")]).toEqual(["Deployment/ns/web"]);
    expect([...caches.workloadsReading("ConfigMap/ns/absent")]).toEqual(["Deployment/ns/web"]);
    expect(caches.lookup("ConfigMap", "ns", "absent")).toBeUndefined();
  });

  it("announce a change of digests, but not of labels", async () => {
    const { fake, configChanges } = start();
    const feed = fake.feed("configmaps");
    await feed.list(configMap("c", { key: "1" }));
    configChanges.length = 0;
    await feed.push({
      type: "apply",
      object: configMap("c", { key: "1" }, { labels: { a: "b" }, resourceVersion: "2" }),
    });
    expect(configChanges).toEqual([]);
    await feed.push({ type: "apply", object: configMap("c", { key: "2" }) });
    await feed.push({ type: "delete", object: configMap("c", { key: "2" }) });
    expect(configChanges.map(({ key, after, initial }) => [key, after?.name, initial])).toEqual([
      ["ConfigMap/ns/c", "c", false],
      ["ConfigMap/ns/c", undefined, false],
    ]);
  });

  it("do not take the time of a write without a change for that of a later removal, which has none", async () => {
    const { fake, caches } = start();
    const feed = fake.feed("configmaps");
    const written = (data: Record<string, string>, second: number, fields: object = { "f:data": {} }) => {
      const time = `2026-01-01T00:00:0${second}Z`;
      const managedFields = [{ manager: "kubectl", operation: "Update", time, fieldsV1: fields }];
      return configMap("c", data, { managedFields, creationTimestamp: "2026-01-01T00:00:00Z" });
    };
    await feed.list(written({ key: "1" }, 1));
    await feed.push({ type: "apply", object: written({ key: "1" }, 3) });
    await feed.push({ type: "apply", object: written({}, 3, { "f:metadata": {} }) });
    expect(caches.lookup("ConfigMap", "ns", "c")).toMatchObject({ keys: [], isUntimed: true });
    await feed.push({ type: "apply", object: written({ key: "2" }, 4) });
    expect(caches.lookup("ConfigMap", "ns", "c")?.isUntimed).toBeUndefined();
  });

  it("take no grant as a change of the content, nor its time for that of a later removal, which has none", async () => {
    const { fake, caches, configChanges } = start();
    const feed = fake.feed("configmaps");
    const written = (second: number, metadata: object = {}, data: Record<string, string> = { key: "1" }) => {
      const time = `2026-01-01T00:00:0${second}Z`;
      const managedFields = [{ manager: "kubectl", operation: "Update", time, fieldsV1: { "f:data": {} } }];
      return configMap("c", data, { managedFields, creationTimestamp: "2026-01-01T00:00:00Z", ...metadata });
    };
    const of = (annotations: Record<string, string>) => ({ annotations });
    const held = () => caches.lookup("ConfigMap", "ns", "c");
    await feed.list(written(1));
    const times = { changedAt: held()?.changedAt, editedAt: held()?.editedAt };
    configChanges.length = 0;
    await feed.push({ type: "apply", object: written(3, of({ "wave.pusher.com/shared-with": "other" })) });
    expect(configChanges).toHaveLength(1);
    expect(held()).toMatchObject({ sharedWith: ",other,", ...times });
    await feed.push({ type: "apply", object: written(3, {}, {}) });
    expect(held()).toMatchObject({ keys: [], isUntimed: true, ...times });
    await feed.push({ type: "apply", object: written(3, {}, { key: "2" }) });
    expect(held()).toMatchObject({ keys: ["key"], isUntimed: true, ...times });
    await feed.push({ type: "apply", object: written(4, {}, { key: "3" }) });
    expect(held()).toMatchObject({ changedAt: (times.changedAt ?? 0) + 3 });
    expect(held()?.isUntimed).toBeUndefined();
  });

  it("do not trust the time of a change that only a list or a live read shows: a removal of keys may have followed", async () => {
    const { fake, caches } = start();
    const feed = fake.feed("configmaps");
    const edited = (value: string, second: number) => {
      const time = `2026-01-01T00:00:0${second}Z`;
      const managedFields = [{ manager: "kubectl", operation: "Update", time, fieldsV1: { "f:data": {} } }];
      return configMap("c", { key: value }, { managedFields, creationTimestamp: "2026-01-01T00:00:00Z" });
    };
    const held = () => caches.lookup("ConfigMap", "ns", "c");
    await feed.list(edited("1", 1));
    expect(held()?.isUntimed).toBeUndefined();
    await feed.push({ type: "apply", object: edited("2", 2) });
    expect(held()?.isUntimed).toBeUndefined();
    const read = (value: string) => {
      const live = new Map([["ConfigMap/ns/c", toConfig("ConfigMap", edited(value, 3) as never)]]);
      return liveLookup(live, caches.lookup)("ConfigMap", "ns", "c");
    };
    expect([read("2")?.isUntimed, read("3")?.isUntimed]).toEqual([undefined, true]);
    await feed.list(edited("3", 3));
    expect([held()?.isUntimed, read("3")?.isUntimed]).toEqual([true, true]);
    await feed.push({ type: "apply", object: edited("4", 4) });
    expect(held()?.isUntimed).toBeUndefined();
    await feed.list(edited("4", 4), { metadata: meta("new") });
    expect([held()?.isUntimed, caches.lookup("ConfigMap", "ns", "new")?.isUntimed]).toEqual([undefined, true]);
  });

  it("know when the content of an object changed better than a live read, after an annotation of the same client", async () => {
    const { fake, caches } = start();
    const feed = fake.feed("configmaps");
    const written = (second: number, value: string, metadata: object = {}) => {
      const time = `2026-01-01T00:00:0${second}Z`;
      const managedFields = [{ manager: "kubectl", operation: "Update", time, fieldsV1: { "f:data": {} } }];
      const all = {
        managedFields,
        creationTimestamp: "2026-01-01T00:00:00Z",
        resourceVersion: `${second}`,
        ...metadata,
      };
      return configMap("c", { key: value }, all);
    };
    const annotated = (second: number, value: string) => written(second, value, { annotations: { any: "note" } });
    const read = (object: object) => {
      const live = new Map([["ConfigMap/ns/c", toConfig("ConfigMap", object as never)]]);
      return liveLookup(live, caches.lookup, caches.syncedUpTo)("ConfigMap", "ns", "c");
    };
    const times = (at: number, revision?: number) => ({ editedAt: Date.UTC(2026, 0, 1) / 1000 + at, revision });
    await feed.list(written(2, "1"));
    await feed.push({ type: "apply", object: annotated(3, "1") });
    expect(read(annotated(3, "1"))).toMatchObject(times(2));
    await feed.push({ type: "apply", object: written(4, "2") });
    await feed.push({ type: "apply", object: annotated(5, "2") });
    expect(read(annotated(5, "2"))).toMatchObject(times(4, 4));
    expect(read(annotated(5, "2"))?.isUntimed).toBeUndefined();
    expect(read(annotated(6, "2"))).toMatchObject({ ...times(6, 6), isUntimed: true });
  });

  it("do not trust the times of content that is there again after changes that no watch has shown", async () => {
    const { fake, caches, clock, configChanges } = start();
    const feed = fake.feed("configmaps");
    const at = (resourceVersion: string) => configMap("c", { key: "1" }, { resourceVersion });
    const held = () => caches.lookup("ConfigMap", "ns", "c");
    const read = (resourceVersion: string) => {
      const live = new Map([["ConfigMap/ns/c", toConfig("ConfigMap", at(resourceVersion) as never)]]);
      return liveLookup(live, caches.lookup, caches.syncedUpTo)("ConfigMap", "ns", "c");
    };
    await feed.list();
    await clock.advance(1_000);
    await feed.push({ type: "apply", object: at("2") });
    await feed.push({ type: "apply", object: at("3") });
    const created = held();
    expect(created).toMatchObject({ revision: 2, wasAbsentSince: expect.any(Number) });
    expect(read("3")).toMatchObject({ wasAbsentSince: created?.wasAbsentSince });
    expect([read("3")?.isUntimed, read("4")?.isUntimed, read("4")?.wasAbsentSince]).toEqual([
      undefined,
      true,
      undefined,
    ]);
    await feed.list(at("3"));
    expect(held()).toBe(created);
    configChanges.length = 0;
    await feed.list(at("5"));
    expect(held()).toMatchObject({ revision: 5, isUntimed: true });
    expect(held()?.wasAbsentSince).toBeUndefined();
    expect(configChanges).toEqual([]);
    await feed.push({ type: "apply", object: configMap("c", { key: "2" }, { resourceVersion: "6" }) });
    expect(held()?.revision).toBe(6);
  });

  it("show since when an object has been absent: since its removal, or the last list, unless they hold it or may miss changes", async () => {
    let lostSince: number | undefined;
    const { fake, caches, clock } = start(undefined, { lostSince: () => lostSince });
    const [feed, object] = [fake.feed("configmaps"), configMap("c", { key: "1" })];
    const absent = (name: string) => caches.absentSince({ kind: "ConfigMap", namespace: "ns", name });
    expect(absent("c")).toBeUndefined();
    await clock.advance(1_000);
    await feed.list(object);
    const listed = clock.monotonic();
    await clock.advance(1_000);
    expect([absent("c"), absent("other")]).toEqual([undefined, listed]);
    await feed.push({ type: "delete", object });
    await clock.advance(1_000);
    expect([absent("c"), absent("other")]).toEqual([listed + 1_000, listed]);
    lostSince = clock.monotonic();
    expect([absent("c"), absent("other")]).toEqual([undefined, undefined]);
    lostSince = undefined;
    // A read finds it before the watch does. It may be gone again before the watch shows that it came.
    caches.found({ kind: "ConfigMap", namespace: "ns", name: "c" });
    expect([absent("c"), absent("other")]).toEqual([listed + 2_000, listed]);
    await feed.push({ type: "apply", object });
    expect(caches.lookup("ConfigMap", "ns", "c")?.wasAbsentSince).toBe(listed + 1_000);
    caches.found({ kind: "ConfigMap", namespace: "ns", name: "c" });
    await feed.push({ type: "delete", object });
    // An object may have come and gone before a later list.
    await feed.list();
    expect([absent("c"), absent("other")]).toEqual([listed + 2_000, listed + 2_000]);
  });

  it("show since when an object was absent before its creation, while it has this content", async () => {
    const { fake, caches, clock } = start();
    const feed = fake.feed("configmaps");
    const [first, other] = [configMap("c", { key: "1" }), configMap("c", { key: "2" })];
    const since = () => caches.lookup("ConfigMap", "ns", "c")?.wasAbsentSince;
    await clock.advance(1_000);
    await feed.list();
    const listed = clock.monotonic();
    await clock.advance(1_000);
    await feed.push({ type: "apply", object: first });
    expect(since()).toBe(listed);
    await feed.push({
      type: "apply",
      object: configMap("c", { key: "1" }, { annotations: { "wave.pusher.com/hold": "true" } }),
    });
    expect(since()).toBe(listed);
    await feed.push({ type: "apply", object: other });
    expect(since()).toBeUndefined();
    await feed.push({ type: "apply", object: first });
    expect(since()).toBeUndefined();
    await feed.push({ type: "delete", object: first });
    await clock.advance(1_000);
    await feed.push({ type: "apply", object: first });
    expect(since()).toBe(listed + 1_000);
    // It may have come and gone before a later list shows it.
    await feed.push({ type: "delete", object: first });
    await feed.list(first);
    expect(since()).toBeUndefined();
  });

  it("mark the removal of a key after a write without a change also for an object that was created during the watch", async () => {
    const { fake, caches, clock } = start();
    const feed = fake.feed("configmaps");
    await clock.advance(1_000);
    await feed.list();
    const at = (time: number, data: Readonly<Record<string, string>>) => {
      const managedFields = [{ manager: "kubectl", time: new Date(1_000 * time).toISOString() }];
      return { type: "apply" as const, object: configMap("c", data, { managedFields }) };
    };
    for (const event of [at(100, { key: "1", more: "1" }), at(105, { key: "1", more: "1" })]) await feed.push(event);
    const held = () => caches.lookup("ConfigMap", "ns", "c");
    expect([held()?.changedAt, held()?.isUntimed]).toEqual([100, undefined]);
    await feed.push(at(105, { key: "1" }));
    expect(held()?.isUntimed).toBe(true);
  });

  it("keep the time of the last change of digests when a label or directive changes, and announce the directive", async () => {
    const { fake, caches, configChanges } = start();
    const feed = fake.feed("configmaps");
    const at = (time: number, data: Readonly<Record<string, string>>, more: object = {}) => {
      const managedFields = [{ manager: "kubectl", time: new Date(1_000 * time).toISOString() }];
      return { type: "apply" as const, object: configMap("c", data, { managedFields, ...more }) };
    };
    const changedAt = () => caches.lookup("ConfigMap", "ns", "c")?.changedAt;
    await feed.list(at(100, { key: "1" }).object);
    await feed.push(at(105, { key: "1" }, { labels: { a: "b" } }));
    expect(changedAt()).toBe(100);
    await feed.push(at(110, { key: "2" }));
    expect(changedAt()).toBe(110);
    configChanges.length = 0;
    await feed.push(at(120, { key: "2" }, { annotations: { "wave.pusher.com/hold": "true" } }));
    expect(configChanges.map(({ after }) => [after?.directive, after?.changedAt])).toEqual([["hold", 110]]);
  });

  it("follow the progress of a workload without parsing it again", async () => {
    const { fake, caches, workloadChanges } = start();
    const feed = fake.feed("deployments");
    const status = { observedGeneration: 1, replicas: 1, updatedReplicas: 1 };
    await feed.list({ ...deployment("web", ["a"]), status });
    const held = caches.workload("Deployment/ns/web");
    expect(held?.progress).toEqual({ state: "progressing", step: 0, available: 0 });
    await feed.push({ type: "apply", object: { ...deployment("web", []), status } });
    expect(caches.workload("Deployment/ns/web")).toBe(held);
    await feed.push({
      type: "apply",
      object: { ...deployment("web", []), status: { ...status, availableReplicas: 1 } },
    });
    const after = caches.workload("Deployment/ns/web");
    expect(after?.progress.state).toBe("complete");
    expect(after?.references).toBe(held?.references);
    expect(workloadChanges.map((change) => change.after?.progress.state)).toEqual(["progressing", "complete"]);
  });

  it("show whether the rollout before a write of the pod template was complete, so that the write restored no template with Pods", async () => {
    const { fake, caches } = start();
    const feed = fake.feed("deployments");
    const at = (generation: number, reads: string, availableReplicas: number) => {
      const { metadata, spec } = deployment("web", [reads]);
      const versions = { resourceVersion: `${generation}${availableReplicas}`, generation };
      const status = { observedGeneration: generation, replicas: 1, updatedReplicas: 1, availableReplicas };
      return { metadata: { ...metadata, ...versions }, spec, status };
    };
    const write = async (object: ReturnType<typeof at>) => {
      await feed.push({ type: "apply", object });
      return caches.workload("Deployment/ns/web")?.templateWrite?.hasOnlyNewPods;
    };
    await feed.list(at(1, "a", 1));
    expect(await write(at(2, "b", 0))).toBe(true);
    expect(await write(at(3, "a", 1))).toBe(false);
    expect(await write(at(4, "b", 0))).toBe(true);
  });

  it("ignore events of a workload that are older than what a list has shown", async () => {
    const { fake, caches } = start();
    const at = (resourceVersion: string, reads: string, generation: number) => {
      const { metadata, spec } = deployment("web", [reads]);
      return { metadata: { ...metadata, resourceVersion, generation }, spec };
    };
    const read = () => caches.workload("Deployment/ns/web")?.references.map(({ name }) => name);
    const feed = fake.feed("deployments");
    await feed.list(at("40", "listed", 4));
    await feed.push({ type: "apply", object: at("30", "earlier", 3) });
    expect(read()).toEqual(["listed"]);
    await feed.push({ type: "apply", object: at("50", "later", 5) });
    expect(read()).toEqual(["later"]);
  });

  it("contain no workload that does not concern Wave, and announce a workload that opts out as gone", async () => {
    const { fake, caches, workloadChanges } = start();
    const feed = fake.feed("deployments");
    await feed.list(
      deployment("in", ["c"]),
      deployment("unclear", ["c"], { "wave.pusher.com/update-on-config-change": "yes" }),
      deployment("on-hold", ["c"], { "wave.pusher.com/scheduling-disabled": "" }),
      unschedulable(deployment("stuck", ["c"], {})),
      deployment("mistaken", ["c"], { "wave.pusher.com/update-on-config-chnage": "true" }),
      deployment("out", ["c"], {}),
      deployment("refused", ["c"], { "wave.pusher.com/update-on-config-change": "false" }),
    );
    expect(Array.from(caches.workloads(), ({ name }) => name)).toEqual([
      "in",
      "unclear",
      "on-hold",
      "stuck",
      "mistaken",
    ]);
    workloadChanges.length = 0;
    await feed.push({ type: "apply", object: deployment("in", ["c"], {}) });
    expect(workloadChanges.map(({ key, before, after }) => [key, before?.name, after])).toEqual([
      ["Deployment/ns/in", "in", undefined],
    ]);
    expect([...caches.workloadsReading("ConfigMap/ns/c")]).toEqual([]);
  });

  it("update the references of a workload before they announce its change", async () => {
    const { fake, caches, onWorkload } = start();
    const announced: string[][] = [];
    onWorkload.push(() => announced.push([...caches.workloadsReading("ConfigMap/ns/c")]));
    const feed = fake.feed("daemonsets");
    await feed.list(deployment("web", ["a", "b"]));
    const after = deployment("web", ["b", "c"]);
    await feed.push({ type: "apply", object: { ...after, metadata: { ...after.metadata, generation: 2 } } });
    const readers = ["a", "b", "c"].map((name) => [...caches.workloadsReading(`ConfigMap/ns/${name}`)]);
    expect(readers).toEqual([[], ["DaemonSet/ns/web"], ["DaemonSet/ns/web"]]);
    await feed.list();
    expect([...caches.workloadsReading("ConfigMap/ns/b")]).toEqual([]);
    expect(announced).toEqual([[], ["DaemonSet/ns/web"], []]);
  });

  it("do not parse a workload again if only fields changed that Wave does not read, such as the status", async () => {
    const { fake, caches, workloadChanges, lines } = start();
    const feed = fake.feed("daemonsets");
    const object = deployment("web", ["a"]);
    await feed.list(object);
    expect(workloadChanges).toHaveLength(1);
    // With the same generation, so that Wave does not parse it again and find it empty.
    await feed.push({ type: "apply", object: { ...object, spec: {} } });
    expect(lines.filter(({ level }) => level === "warn")).toEqual([]);
    expect(workloadChanges).toHaveLength(1);
    expect([...caches.workloadsReading("ConfigMap/ns/a")]).toEqual(["DaemonSet/ns/web"]);
  });

  it("are synced when every kind was listed, report that once, and stay synced", async () => {
    const { fake, caches, clock, lines, controller } = start();
    let synced = false;
    const waiting = caches.whenSynced(controller.signal).then(() => {
      synced = true;
    });
    for (const kind of kinds) {
      await clock.advance(100);
      expect([caches.synced, synced]).toEqual([false, false]);
      await fake.feed(kind).list();
    }
    await waiting;
    await fake.feed("secrets").list({ metadata: meta("s") });
    expect(caches.synced).toBe(true);
    await caches.whenSynced(controller.signal);
    const counts = { Namespace: 0, ConfigMap: 0, Secret: 0, Deployment: 0, StatefulSet: 0, DaemonSet: 0 };
    expect(lines.filter(({ level }) => level === "info")).toEqual([
      { level: "info", message: "caches synced", fields: { ...counts, ms: 500 } },
    ]);
  });

  it("are not synced while one of the given namespaces was not listed", async () => {
    const { fake, caches } = start(["one", "two"]);
    for (const kind of kinds) await fake.feed(`${kind}/one`).list();
    for (const kind of kinds) {
      expect(caches.synced).toBe(false);
      await fake.feed(`${kind}/two`).list();
    }
    expect(caches.synced).toBe(true);
  });

  describe("if a namespace cannot be listed", () => {
    const inNamespace = (namespace: string, { metadata, spec }: ReturnType<typeof deployment>) => ({
      metadata: { ...metadata, namespace },
      spec,
    });
    const reading = (name: string, namespace: string) =>
      deployment(name, [], { ...optIn, "wave.pusher.com/extra-configmaps": `${namespace}/c` });

    /** "one" is served; in "two" everything but Secrets was listed. */
    async function startWithoutSecretsOfTwo(options?: Partial<CachesOptions>) {
      const started = start(["one", "two"], options);
      const { fake } = started;
      const list = (kind: string, namespace: string, ...objects: unknown[]) =>
        fake.feed(`${kind}/${namespace}`).list(...objects);
      const mine = [inNamespace("one", deployment("mine", ["c"])), inNamespace("one", reading("theirs", "two"))];
      await list("configmaps", "two", configMap("c", { a: "1" }, { namespace: "two" }));
      await list("deployments", "two", inNamespace("two", deployment("hidden", ["c"])));
      for (const kind of ["statefulsets", "daemonsets"]) await list(kind, "two");
      await list("deployments", "one", ...mine);
      for (const kind of kinds.filter((each) => each !== "deployments")) await list(kind, "one");
      return started;
    }

    it("workloads are decided in all others, except those that read in that namespace", async () => {
      const { fake, caches, metrics } = await startWithoutSecretsOfTwo();
      expect([caches.synced, caches.notes()]).toEqual([false, []]);
      expect(caches.problem()).toBe("the caches are not synced");
      await fake.feed("secrets/two").push({ type: "initFailed", reason: "cannot watch secrets in two: allow it" });
      expect([caches.synced, caches.problem()]).toEqual([true, undefined]);
      expect(caches.notes()).toEqual(["cannot watch secrets in two: allow it"]);
      expect(Array.from(caches.workloads(), ({ name }) => name)).toEqual(["mine"]);
      expect(caches.workload("Deployment/two/hidden")).toBeUndefined();
      expect(caches.workload("Deployment/one/theirs")).toBeUndefined();
      expect(metrics.render()).toContain("wave_cache_unsynced_namespaces 1\n");
    });

    it("workloads that read in that namespace are decided if references into other namespaces are ignored", async () => {
      const { fake, caches, workloadChanges } = await startWithoutSecretsOfTwo({ crossNamespace: "none" });
      await fake.feed("secrets/two").push({ type: "initFailed", reason: "no" });
      expect(Array.from(caches.workloads(), ({ name }) => name)).toEqual(["mine", "theirs"]);
      workloadChanges.length = 0;
      await fake.feed("secrets/two").list();
      expect(workloadChanges.map(({ key }) => key)).toEqual(["Deployment/two/hidden"]);
    });

    it("the namespace is announced as new when it can be listed", async () => {
      const { fake, caches, metrics, workloadChanges } = await startWithoutSecretsOfTwo();
      await fake.feed("secrets/two").push({ type: "initFailed", reason: "no" });
      workloadChanges.length = 0;
      await fake.feed("secrets/two").list();
      expect(workloadChanges.map(({ key, initial }) => [key, initial])).toEqual([
        ["Deployment/one/theirs", true],
        ["Deployment/two/hidden", true],
      ]);
      expect(Array.from(caches.workloads(), ({ name }) => name)).toEqual(["mine", "theirs", "hidden"]);
      expect(caches.notes()).toEqual([]);
      expect(metrics.render()).toContain("wave_cache_unsynced_namespaces 0\n");
      await fake.feed("secrets/two").push({ type: "initFailed", reason: "no" });
      expect(caches.workload("Deployment/two/hidden")?.name).toBe("hidden");
    });

    it("nothing is decided while no namespace can be listed, and the missing permission is named", async () => {
      const { fake, caches } = start(["one", "two"]);
      for (const kind of kinds.slice(1)) await fake.feed(`${kind}/one`).list();
      await fake.feed("configmaps/one").push({ type: "initFailed", reason: "allow configmaps in one" });
      await fake.feed("secrets/two").push({ type: "initFailed", reason: "allow secrets in two" });
      expect(caches.synced).toBe(false);
      expect(caches.problem()).toBe("the caches are not synced; allow configmaps in one; allow secrets in two");
    });
  });

  it("are not synced while a kind of all namespaces cannot be listed", async () => {
    const { fake, caches } = start();
    for (const kind of kinds.slice(1)) await fake.feed(kind).list();
    await fake.feed("configmaps").push({ type: "initFailed", reason: "allow configmaps" });
    expect([caches.synced, caches.problem()]).toEqual([false, "the caches are not synced; allow configmaps"]);
  });

  it("stop waiting to be synced when the signal is aborted", async () => {
    const { caches, controller } = start();
    const waiting = caches.whenSynced(controller.signal);
    controller.abort(new Error("stopped"));
    await expect(waiting).rejects.toThrow("stopped");
    await expect(caches.whenSynced(controller.signal)).rejects.toThrow("stopped");
  });

  it("watch all namespaces at once, and no release of Helm", async () => {
    const { fake } = start();
    await eventually(() => expect(fake.watched).toHaveLength(6));
    const seen = fake.watched.map(({ resource, namespace, fieldSelector }) => [
      resource.plural,
      namespace,
      fieldSelector,
    ]);
    expect(seen).toEqual([
      ["namespaces", undefined, undefined],
      ["configmaps", undefined, undefined],
      ["secrets", undefined, "type!=helm.sh/release.v1"],
      ["deployments", undefined, undefined],
      ["statefulsets", undefined, undefined],
      ["daemonsets", undefined, undefined],
    ]);
  });

  it("watch only the given namespaces, and a list of one namespace does not change the others", async () => {
    const { fake, caches, metrics } = start(["one", "two"]);
    await eventually(() => expect(fake.watched).toHaveLength(12));
    const watched = fake.watched.map(({ resource, namespace, fieldSelector }) => [
      resource.plural,
      namespace ?? fieldSelector?.replace("metadata.name=", ""),
    ]);
    const expected = ["namespaces", ...kinds].flatMap((kind) => ["one", "two"].map((name) => [kind, name]));
    expect(watched.toSorted()).toEqual(expected.toSorted());
    await fake.feed("configmaps/one").list(configMap("c", {}, { namespace: "one" }));
    await fake.feed("configmaps/two").list(configMap("c", {}, { namespace: "two" }));
    await fake.feed("configmaps/one").list();
    expect(caches.lookup("ConfigMap", "one", "c")).toBeUndefined();
    expect(caches.lookup("ConfigMap", "two", "c")?.namespace).toBe("two");
    expect(caches.lookup("ConfigMap", "three", "c")).toBeUndefined();
    expect(metrics.render()).toContain('wave_cache_objects{kind="ConfigMap"} 1\n');
  });

  it("log a malformed object by name, never its value", async () => {
    const { fake, lines } = start();
    await fake.feed("secrets").list({ metadata: meta("bad"), data: { key: ["hunter2"] } });
    const warnings = lines.filter(({ level }) => level === "warn");
    expect(warnings.map(({ fields }) => [fields.kind, fields.namespace, fields.name])).toEqual([
      ["Secret", "ns", "bad"],
    ]);
    expect(JSON.stringify(lines)).not.toContain("hunter2");
  });

  it("end cleanly when the signal is aborted", async () => {
    const { fake, running, controller } = start();
    await fake.feed("secrets").list();
    controller.abort();
    await expect(running).resolves.toBeUndefined();
  });

  it("end with the error of a failed reflector, and end the others", async () => {
    const clock = new FakeClock();
    const fake = new FakeWatch();
    const signals: AbortSignal[] = [];
    const fail = () => {
      throw new Error("a listener broke");
    };
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const watch: Watch = (what, signal) => {
      signals.push(signal);
      return fake.watch(what, signal);
    };
    const caches = cachesOver(
      { watch, list: fake.list },
      {
        namespaces: undefined,
        clock,
        log,
        metrics: new MetricsRegistry(),
        onWorkloadChange: fail,
        onConfigChange: fail,
        onNamespaceChange: fail,
      },
    );
    const running = caches.run(new AbortController().signal);
    void fake.feed("secrets").list({ metadata: meta("s") });
    await expect(running).rejects.toThrow("a listener broke");
    expect(signals.map(({ aborted }) => aborted)).toEqual(["namespaces", ...kinds].map(() => true));
  });
});

describe("what SecretProviderClasses fetch", () => {
  const status = (pod: string, version: string, generation = 1, more: object = {}) => ({
    ...podStatus({ pod, versions: { a: version }, generation, ...more }),
  });
  const mounting = {
    metadata: { ...meta("web"), namespace: "default", annotations: optIn },
    spec: {
      selector: {},
      template: {
        metadata: {},
        spec: {
          containers: [],
          volumes: [
            {
              name: "v",
              csi: { driver: "secrets-store.csi.k8s.io", volumeAttributes: { secretProviderClass: "vault" } },
            },
          ],
        },
      },
    },
  };

  it("is not watched if it is disabled", async () => {
    const { fake, caches } = start();
    await Promise.all(kinds.map((kind) => fake.feed(kind).list()));
    expect(caches.synced).toBe(true);
    expect(fake.watched.map(({ resource }) => resource.plural)).not.toContain("secretproviderclasspodstatuses");
  });

  it("is synced if it is enabled, may be absent, and is announced once for any number of Pods", async () => {
    const { fake, caches, configChanges } = start(undefined, { providerClasses: true });
    const statuses = fake.feed("secretproviderclasspodstatuses");
    await fake.feed("deployments").list(mounting);
    await Promise.all(kinds.filter((kind) => kind !== "deployments").map((kind) => fake.feed(kind).list()));
    expect(caches.synced).toBe(false);
    await statuses.list(status("a", "1"), status("b", "1"));
    expect(caches.synced).toBe(true);
    expect(fake.watched.find(({ resource }) => resource.kind === "SecretProviderClassPodStatus")?.mayBeAbsent).toBe(
      true,
    );
    const key = "SecretProviderClass/default/vault";
    expect([...caches.workloadsReading(key)]).toEqual(["Deployment/default/web"]);
    const first = caches.lookup("SecretProviderClass", "default", "vault");
    expect(configChanges.map((change) => change.key)).toEqual([key]);
    await statuses.push({ type: "apply", object: status("a", "2", 2, { at: 2000 }) });
    await statuses.push({ type: "apply", object: status("b", "2", 2, { at: 2001 }) });
    const second = caches.lookup("SecretProviderClass", "default", "vault");
    expect(configChanges.slice(1).map(({ before, after }) => [before, after])).toEqual([[first, second]]);
    // While the watch is broken, Pods are created, and the first Pod that reported the version is deleted.
    await statuses.list(status("b", "2", 2, { at: 2001 }), status("c", "3", 1, { at: 3000 }));
    await statuses.push({ type: "delete", object: status("b", "2") });
    expect(caches.lookup("SecretProviderClass", "default", "vault")).toBe(second);
    await statuses.push({ type: "delete", object: status("c", "3") });
    expect(configChanges.slice(2).map(({ after }) => after)).toEqual([undefined]);
  });
});
