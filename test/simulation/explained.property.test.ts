import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, expect, inject, it, vi } from "vitest";
import { startApiServer } from "../../sandbox/requests/api-server.ts";
import { cachesOver } from "../../src/cache/cluster-cache.ts";
import { createListedConfigs } from "../../src/cache/live/listed-configs.ts";
import { createPodLists } from "../../src/cache/live/listed-pods.ts";
import { explainWorkload } from "../../src/cli/cluster/explanation/explanation.ts";
import type { KnownPolicy } from "../../src/cli/cluster/running-wave/known-policy.ts";
import { readWorkloadSnapshots } from "../../src/cli/cluster/snapshot/read-one.ts";
import { createLiveReads } from "../../src/controllers/rollout/freshness/live-plan.ts";
import { rolloutMetrics } from "../../src/controllers/rollout/report/rollout-metrics.ts";
import { RolloutWorkers } from "../../src/controllers/rollout/rollout-workers.ts";
import { builtInKinds } from "../../src/domain/model/kinds/apps-kinds.ts";
import { workloadKey } from "../../src/domain/model/workload-shape.ts";
import { type KubeObject, resourcePath, resources } from "../../src/kube/api/resources.ts";
import { TokenBucket } from "../../src/runtime/token-bucket.ts";
import { soleLeadership, WritePermits } from "../../src/runtime/write-permits.ts";
import { type Logger, silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { unpaced } from "../support/domain/objects.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { FakeWatch } from "../support/fake-watch.ts";
import { memoryClient } from "../support/memory-client.ts";

const prefix = "wave.pusher.com/";
const merge = "application/merge-patch+json";
const pacing = {
  ...unpaced,
  settleMs: 1_000,
  maxConcurrent: 2,
  soakMs: 10_000,
  haltAfterFailures: 1,
};
const policy = {
  crossNamespace: "granted",
  namespaces: undefined,
  schedulingHold: false,
  pinConfig: true,
  pacing,
} as const;
const known: KnownPolicy = { ...policy, keys: { state: "not requested", why: "" }, kinds: builtInKinds };
const names = ["a", "b", "c"] as const;
type Name = (typeof names)[number];
type Annotations = Readonly<Record<string, string | null>>;

/** The reasons of the condition `Progressing` of a Deployment. */
const reasons = {
  progressing: "ReplicaSetUpdated",
  failed: "ProgressDeadlineExceeded",
  complete: "NewReplicaSetAvailable",
} as const;

/** What a person or Kubernetes does. Each action takes time in whole seconds, as the times of the API. */
type Action =
  | { readonly type: "edit"; readonly value: string }
  | { readonly type: "delete copies" }
  | { readonly type: "annotate"; readonly name: Name; readonly annotations: Annotations }
  | { readonly type: "annotate the ConfigMap"; readonly annotations: Annotations }
  | { readonly type: "label the ConfigMap"; readonly value: string }
  | { readonly type: "status"; readonly name: Name; readonly is: "complete" | "failed" }
  | { readonly type: "wait"; readonly seconds: number };

interface StoredDeployment extends KubeObject {
  readonly spec: {
    readonly template: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };
  };
  readonly status?: { readonly observedGeneration?: number };
}

/** What explains and decides: the words that a person reads. */
interface Words {
  readonly outcome: string;
  readonly hold: string | undefined;
  readonly message: string | undefined;
}

/**
 * A leader whose caches have everything that is stored, in virtual time, and three pinned Deployments that read ConfigMap `page`. The leader is a
 * real one. The last decision of its runs is what it does until something happens.
 */
class Stage {
  readonly clock = new FakeClock();
  readonly #server = startApiServer({ controllers: false, clock: this.clock });
  readonly #client = memoryClient(this.#server);
  readonly #watch = new FakeWatch();
  readonly #stop = new AbortController();
  readonly #decided = new Map<string, Words>();
  readonly #shown = new Map<string, KubeObject>();
  /** The template hash and the progress of the last rollout of each Deployment. */
  readonly #rollouts = new Map<Name, { readonly rollout: string; readonly is: string }>();
  readonly #workers: RolloutWorkers;
  readonly #done: Promise<unknown>[] = [];

  constructor() {
    const { clock } = this;
    const client = this.#client;
    const log: Logger = {
      ...silentLogger,
      debug: (message, fields) => void (message === "nothing to write" && this.#logged(fields)),
      info: (message, fields) => void (message === "patched" && fields?.outcome === "roll" && this.#logged(fields)),
    };
    const metrics = new MetricsRegistry();
    const caches = cachesOver(this.#watch, {
      namespaces: undefined,
      compatibility: undefined,
      clock,
      log,
      metrics,
      onWorkloadChange: (change) => this.#workers.onWorkloadChange({ ...change, initial: false }),
      onConfigChange: (change) => this.#workers.onConfigChange({ ...change, initial: false }),
      onNamespaceChange: () => {},
      onOwnersChange: undefined,
    });
    const { signal } = this.#stop;
    const listed = createListedConfigs({ client, caches, policy, waiting: () => 0, clock, log, signal });
    const leadership = soleLeadership(signal);
    const tokens = new TokenBucket({ clock, perSecond: Number.POSITIVE_INFINITY, burst: 1 });
    this.#workers = new RolloutWorkers({
      client,
      caches,
      policy,
      clock,
      log,
      leadership,
      live: createLiveReads({ client, policy, caches: { ...caches, found: () => {} }, listed, signal }),
      pods: createPodLists({ client, caches, clock, log, signal }),
      permits: new WritePermits({ clock, tokens, leadership }),
      recorder: { record: async () => {} },
      metrics: rolloutMetrics(
        metrics,
        clock,
        () => [],
        () => undefined,
      ),
      syncPeriodMs: 0,
      workers: 4,
      webhooks: false,
      random: () => 0,
      onWaiting: () => {},
    });
    this.#done.push(caches.run(signal));
  }

  async begin(): Promise<void> {
    await this.#write("POST", "configMaps", "", { metadata: { name: "page" }, data: { a: "0" } });
    const annotations = { [`${prefix}update-on-config-change`]: "true", [`${prefix}pin-config`]: "true" };
    for (const name of names) {
      const containers = [{ name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "page" } }] }];
      const template = { metadata: { labels: { app: name } }, spec: { containers } };
      const spec = { replicas: 1, selector: { matchLabels: { app: name } }, template };
      await this.#write("POST", "deployments", "", { metadata: { name, annotations }, spec });
    }
    for (const { plural } of [resources.secrets, resources.statefulSets, resources.daemonSets])
      await this.#watch.feed(plural).list();
    for (const resource of ["configMaps", "deployments"] as const)
      await this.#watch.feed(resources[resource].plural).list(...(await this.#list(resource)));
    this.#done.push(this.#workers.run());
    await this.clock.advance(0);
  }

  /** Stores the decision of a run, as the leader logs it. */
  #logged({ kind, namespace, name, outcome, hold, held }: Readonly<Record<string, unknown>> = {}): void {
    const is = outcome === "roll" ? "rolled" : `${outcome}`;
    const words = { outcome: is, hold: hold as string | undefined, message: held as string | undefined };
    this.#decided.set(`${kind}/${namespace}/${name}`, words);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#done);
    this.#server.stop();
  }

  async act(action: Action): Promise<void> {
    switch (action.type) {
      case "edit":
        await this.#write("PATCH", "configMaps", "page", { data: { a: action.value } });
        break;
      case "delete copies":
        for (const { metadata } of await this.#list("configMaps"))
          if (metadata.name !== "page") await this.#write("DELETE", "configMaps", metadata.name, undefined);
        break;
      case "annotate":
        await this.#write("PATCH", "deployments", action.name, { metadata: { annotations: action.annotations } });
        break;
      case "annotate the ConfigMap":
        await this.#write("PATCH", "configMaps", "page", { metadata: { annotations: action.annotations } });
        break;
      case "label the ConfigMap":
        await this.#write("PATCH", "configMaps", "page", { metadata: { labels: { note: action.value } } });
        break;
      case "status":
        await this.#setStatus(action.name, action.is);
        break;
      case "wait":
        for (let half = 0; half < 2 * action.seconds; half++) {
          await this.clock.advance(500);
          await this.#show();
        }
    }
    await this.#show();
  }

  /** Returns the last decision of the leader about each Deployment. */
  decided(): ReadonlyMap<string, Words> {
    return this.#decided;
  }

  /** Returns what `wave list` and `wave explain` say of each Deployment, over reads of the API, if it is this much earlier. */
  async explained(agoMs = 0): Promise<ReadonlyMap<string, Words>> {
    vi.setSystemTime(this.clock.wall() - agoMs);
    const cluster = { client: this.#client, namespace: "default", source: "the test" };
    const { snapshots } = await readWorkloadSnapshots(cluster as never, "default", undefined, known);
    return new Map(
      snapshots.map((snapshot) => {
        const { outcome, hold } = explainWorkload(snapshot);
        return [workloadKey(snapshot.found.workload), { outcome, hold: hold?.reason, message: hold?.message }];
      }),
    );
  }

  /** Shows the caches everything that was stored since, until the leader writes nothing more. */
  async #show(): Promise<void> {
    for (let round = 0; round < 20; round++) {
      await this.clock.advance(0);
      let isNew = false;
      for (const resource of ["configMaps", "deployments"] as const) {
        const feed = this.#watch.feed(resources[resource].plural);
        const stored = new Map(
          (await this.#list(resource)).map((object) => [`${resource} ${object.metadata.name}`, object]),
        );
        for (const [key, object] of stored) {
          if (this.#shown.get(key)?.metadata.resourceVersion === object.metadata.resourceVersion) continue;
          isNew = true;
          this.#shown.set(key, object);
          await feed.push({ type: "apply", object });
        }
        for (const [key, object] of this.#shown) {
          if (!key.startsWith(resource) || stored.has(key)) continue;
          isNew = true;
          this.#shown.delete(key);
          await feed.push({ type: "delete", object });
        }
      }
      // Kubernetes starts a rollout as soon as the pod template has changed.
      for (const name of names) {
        await this.#setStatus(name, "progressing");
        isNew = (await this.#observe(name)) || isNew;
      }
      if (!isNew) return;
    }
    throw new Error("the leader does not stop writing");
  }

  async #list(resource: "configMaps" | "deployments"): Promise<readonly KubeObject[]> {
    const path = resourcePath(resources[resource], { namespace: "default" });
    return (await this.#client.request<{ items: readonly KubeObject[] }>({ method: "GET", path })).items;
  }

  async #write(
    method: "POST" | "PATCH" | "DELETE",
    resource: "configMaps" | "deployments",
    name: string,
    body: unknown,
  ) {
    const path = resourcePath(resources[resource], { namespace: "default", ...(name && { name }) });
    await this.#client.request({ method, path, body, contentType: method === "PATCH" ? merge : undefined } as never);
  }

  async #deployment(name: Name): Promise<StoredDeployment> {
    const object = (await this.#list("deployments")).find(({ metadata }) => metadata.name === name);
    return object as StoredDeployment;
  }

  /**
   * Lets the controller of Kubernetes observe that nothing changed after a write of annotations, which raises the generation. Returns whether
   * there was such a write.
   */
  async #observe(name: Name): Promise<boolean> {
    const { metadata, status } = await this.#deployment(name);
    if (status?.observedGeneration === metadata.generation) return false;
    await this.#writeStatus(name, { observedGeneration: metadata.generation });
    return true;
  }

  async #writeStatus(name: Name, status: object): Promise<void> {
    const path = `${resourcePath(resources.deployments, { namespace: "default", name })}/status`;
    await this.#client.request({ method: "PATCH", path, body: { status }, contentType: merge });
  }

  /** Writes the status as Kubernetes does: a rollout that is complete does not fail later, and a failed one is not in progress again. */
  async #setStatus(name: Name, is: keyof typeof reasons): Promise<void> {
    const object = await this.#deployment(name);
    const rollout = object.spec.template.metadata.annotations?.[`${prefix}config-hash`] ?? "";
    const last = this.#rollouts.get(name);
    const order = ["progressing", "failed", "complete"];
    if (last?.rollout === rollout && order.indexOf(is) <= order.indexOf(last.is)) return;
    this.#rollouts.set(name, { rollout, is });
    const ready = is === "complete" ? 1 : 0;
    const reason = reasons[is];
    const lastUpdateTime = new Date(this.clock.wall()).toISOString();
    const status = {
      observedGeneration: object.metadata.generation,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: ready,
      availableReplicas: ready,
      unavailableReplicas: 1 - ready,
      conditions: [{ type: "Progressing", status: is === "failed" ? "False" : "True", reason, lastUpdateTime }],
    };
    await this.#writeStatus(name, status);
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

it("what explain says while a pinned change is held and its copy is deleted is what the leader does", async () => {
  const stage = new Stage();
  await stage.begin();
  try {
    for (const name of names) await stage.act({ type: "status", name, is: "complete" });
    await stage.act({ type: "wait", seconds: 60 });
    await stage.act({ type: "annotate", name: "a", annotations: { [`${prefix}hold`]: "true" } });
    await stage.act({ type: "edit", value: "1" });
    await stage.act({ type: "delete copies" });
    await stage.act({ type: "wait", seconds: 120 });
    const key = "Deployment/default/a";
    expect((await stage.explained()).get(key)).toMatchObject({ outcome: "held", hold: "hold" });
    expect((await stage.explained()).get(key)).toEqual(stage.decided().get(key));
  } finally {
    await stage.end();
  }
});

it("what explain says of a halted change whose object got a label since is what the leader does", async () => {
  const stage = new Stage();
  await stage.begin();
  try {
    for (const name of names) await stage.act({ type: "status", name, is: "complete" });
    await stage.act({ type: "wait", seconds: 60 });
    await stage.act({ type: "edit", value: "1" });
    await stage.act({ type: "wait", seconds: 5 });
    for (const name of names) await stage.act({ type: "status", name, is: "failed" });
    await stage.act({ type: "wait", seconds: 60 });
    await stage.act({ type: "label the ConfigMap", value: "1" });
    await stage.act({ type: "wait", seconds: 5 });
    const explained = await stage.explained();
    expect([...explained.values()].filter(({ hold }) => hold === "halted")).toHaveLength(names.length - 1);
    for (const [key, leader] of stage.decided())
      if (leader.outcome !== onlyMemory.outcome) expect(explained.get(key), key).toEqual(leader);
  } finally {
    await stage.end();
  }
});

const value = (name: string, values: readonly (string | null)[]) =>
  fc.constantFrom(...values).map((each) => ({ [prefix + name]: each }));
const ofWorkload = fc.oneof(
  value("hold", ["true", "false", null]),
  value("mode", ["approve", "observe", "soon", null]),
  value("min-interval", ["60s", null]),
  value("batches", ["off", null]),
  value("priority", ["1", null]),
  value("on-failure", ["return", null]),
  value("window", ["Sat-Sun 00:00-24:00 UTC", null]),
);
const name = fc.constantFrom(...names);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("edit" as const), value: fc.constantFrom("0", "1", "2", "3") }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("delete copies" as const) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("annotate" as const), name, annotations: ofWorkload }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("annotate the ConfigMap" as const),
      annotations: value("hold", ["true", null]),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("label the ConfigMap" as const), value: fc.constantFrom("0", "1", "2") }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("status" as const),
      name,
      is: fc.constantFrom("complete" as const, "complete" as const, "failed" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("wait" as const), seconds: fc.constantFrom(1, 5, 15, 60, 300) }),
  },
);

/**
 * What only the memory of the leader has, so that a command may differ. Everything else that a new leader does not know is in ADR 11. No action
 * of this test needs it.
 */
const onlyMemory = {
  /** The API has whole seconds. A hold that ends by itself may end up to a second earlier for a command. */
  secondsMs: 1_000,
  /** A rollout that was just written is no decision any more. The next run decides, when the leader sees the workload. */
  outcome: "rolled",
};

it("explain over reads is the decision of the leader, word for word", async () => {
  const property = fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 25 }), async (actions) => {
    const stage = new Stage();
    await stage.begin();
    try {
      for (const name of names) await stage.act({ type: "status", name, is: "complete" });
      await stage.act({ type: "wait", seconds: 30 });
      for (const each of actions) {
        await stage.act(each);
        // The leader computes batches within milliseconds.
        await stage.act({ type: "wait", seconds: 1.5 });
        const [now, earlier] = [await stage.explained(), await stage.explained(onlyMemory.secondsMs)];
        for (const [key, leader] of stage.decided()) {
          if (leader.outcome === onlyMemory.outcome) continue;
          const explained = isDeepStrictEqual(earlier.get(key), leader) ? earlier : now;
          expect(explained.get(key), key).toEqual(leader);
        }
        await stage.act({ type: "wait", seconds: 0.5 });
      }
    } finally {
      await stage.end();
    }
  });
  await fc.assert(property, { numRuns: inject("everything") ? 20 : 7 });
});
