import { setImmediate } from "node:timers/promises";
import { cachesOver } from "../../src/cache/cluster-cache.ts";
import { type Controller, type ControllerOptions, createController } from "../../src/controllers/rollout/controller.ts";
import { ApiError } from "../../src/kube/api/api-failure.ts";
import { type KubeObject, type Resource, resourcePath, resources } from "../../src/kube/api/resources.ts";
import type { ObjectEvent } from "../../src/kube/events/event-object.ts";
import type { ApiRequest } from "../../src/kube/http/api-request.ts";
import type { ApiClient } from "../../src/kube/http/client.ts";
import { silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { unpaced } from "./domain/objects.ts";
import { FakeClock } from "./fake-clock.ts";
import { bytesOf } from "./fake-cluster.ts";
import { FakeWatch } from "./fake-watch.ts";

const watched = [
  resources.configMaps,
  resources.secrets,
  resources.deployments,
  resources.statefulSets,
  resources.daemonSets,
];

/** A server in the process of the test. */
export interface MemoryServer {
  answer(
    method: string,
    path: string,
    query: URLSearchParams,
    contentType: string,
    body: unknown,
  ): Promise<MemoryAnswer>;
  /** Passes on every line of a watch from now on. */
  watch(path: string, take: (line: string) => void): Promise<void>;
}

/** The answer: a JSON value. */
export interface MemoryAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Returns what the other side of a connection receives. `structuredClone` takes several times as long. */
function copyOf(json: unknown): unknown {
  return json === undefined ? undefined : JSON.parse(JSON.stringify(json));
}

/** A cluster without connections that records every request of Wave. For tests only. */
export class MemoryCluster {
  readonly clock: FakeClock;
  /** The requests of replicas, in order, such as "PATCH /apis/…". */
  readonly asked: string[] = [];
  /** Answers a request of a replica instead of the server. */
  answers: (request: ApiRequest) => ApiError | undefined = () => undefined;
  readonly #server: MemoryServer;
  #underWay = 0;

  constructor(server: MemoryServer, clock = new FakeClock()) {
    this.clock = clock;
    this.#server = server;
  }

  /** Sends a request as a person or a tool. */
  readonly request = <T>(request: ApiRequest): Promise<T> => this.#ask<T>(request);

  /** Sends a request as Wave. */
  readonly client: ApiClient = {
    request: async <T>(request: ApiRequest): Promise<T> => {
      this.asked.push(`${request.method} ${request.path.split("/").slice(-2).join("/")}`);
      const failure = this.answers(request);
      if (failure !== undefined) throw failure;
      return this.#ask<T>(request);
    },
    // The caches of these tests are filled by hand.
    stream: async (request) => bytesOf(await this.client.request(request)),
    close: async () => {},
  };

  create(resource: Resource, object: object, namespace = "default"): Promise<KubeObject> {
    return this.request({ method: "POST", path: resourcePath(resource, { namespace }), body: object });
  }

  edit(resource: Resource, name: string, body: object, namespace = "default"): Promise<KubeObject> {
    const path = resourcePath(resource, { namespace, name });
    return this.request({ method: "PATCH", path, body, contentType: "application/merge-patch+json" });
  }

  remove(resource: Resource, name: string): Promise<KubeObject> {
    return this.request({ method: "DELETE", path: resourcePath(resource, { namespace: "default", name }) });
  }

  get<T>(resource: Resource, name: string): Promise<T> {
    return this.request({ method: "GET", path: resourcePath(resource, { namespace: "default", name }) });
  }

  async list(resource: Resource): Promise<readonly KubeObject[]> {
    const path = resourcePath(resource, {});
    return (await this.request<{ items: KubeObject[] }>({ method: "GET", path })).items;
  }

  /** Returns every line of a watch from now on. */
  watch(resource: Resource, take: (line: { type: string; object: KubeObject }) => void): Promise<void> {
    return this.#server.watch(resourcePath(resource, {}), (line) => take(JSON.parse(line)));
  }

  /** Resolves when every client that was about to send a request has its answer. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 20; quiet++) {
      await setImmediate();
      if (this.#underWay > 0) quiet = 0;
    }
  }

  async #ask<T>({ method, path, query = {}, body, contentType = "application/json" }: ApiRequest): Promise<T> {
    this.#underWay++;
    try {
      const parameters = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, `${value}`);
      const reply = await this.#server.answer(method, path, parameters, contentType, copyOf(body));
      await setImmediate();
      const answer = copyOf(reply.body) as { reason?: string; message?: string };
      if (reply.status < 300) return answer as T;
      const { reason = "", message = "" } = answer;
      throw new ApiError({ request: `${method} ${path}`, status: reply.status, reason, serverMessage: message });
    } finally {
      this.#underWay--;
    }
  }
}

/** A replica whose caches receive changes when the test decides, in order for each kind, and as late as the test wants. */
export class LateReplica {
  readonly events: ObjectEvent[] = [];
  readonly metrics = new MetricsRegistry();
  readonly #cluster: MemoryCluster;
  readonly #controller: Controller;
  readonly #watch = new FakeWatch();
  readonly #end = new AbortController();
  readonly #unheard = new Map<string, { type: "apply" | "delete"; object: KubeObject }[]>();

  constructor(cluster: MemoryCluster, options: Partial<ControllerOptions> = {}) {
    this.#cluster = cluster;
    const { clock, client } = cluster;
    const { metrics } = this;
    const caches = cachesOver(this.#watch, {
      namespaces: undefined,
      clock,
      log: silentLogger,
      metrics,
      onWorkloadChange: (change) => this.#controller.onWorkloadChange(change),
      onConfigChange: (change) => this.#controller.onConfigChange(change),
      onNamespaceChange: (namespace) => this.#controller.onNamespaceChange(namespace),
    });
    this.#controller = createController({
      client,
      caches,
      policy: {
        crossNamespace: "granted",
        namespaces: undefined,
        schedulingHold: true,
        pacing: unpaced,
        namespacePolicyOf: caches.namespace,
      },
      recorder: { record: async (event) => void this.events.push(event) },
      clock,
      log: silentLogger,
      metrics,
      updateRate: Number.POSITIVE_INFINITY,
      updateBurst: 1,
      syncPeriodMs: 0,
      webhooks: false,
      random: () => 1,
      ...options,
    });
    void caches.run(this.#end.signal);
  }

  /** Lists all objects except those for which `leaveOut` is true, and starts watches whose changes are not delivered yet. */
  async list(leaveOut: (object: KubeObject) => boolean = () => false): Promise<void> {
    for (const resource of watched) {
      const unheard: { type: "apply" | "delete"; object: KubeObject }[] = [];
      this.#unheard.set(resource.plural, unheard);
      const objects = await this.#cluster.list(resource);
      await this.#watch.feed(resource.plural).list(...objects.filter((object) => !leaveOut(object)));
      const listed = new Set(objects.map(({ metadata }) => metadata.resourceVersion));
      await this.#cluster.watch(resource, ({ type, object }) => {
        if (type === "BOOKMARK" || listed.has(object.metadata.resourceVersion) || leaveOut(object)) return;
        unheard.push({ type: type === "DELETED" ? "delete" : "apply", object });
      });
    }
  }

  /** Leads until the test ends it. */
  async lead(): Promise<void> {
    void this.#controller.run({ stop: this.#end.signal, abort: this.#end.signal, valid: () => true });
    await this.#cluster.settled();
  }

  /** Delivers the oldest `count` changes of a kind that are not delivered yet, and does the resulting work. */
  async hear(resource: Resource, count = Number.POSITIVE_INFINITY): Promise<void> {
    const events = this.#unheard.get(resource.plural)?.splice(0, count) ?? [];
    if (events.length > 0) await this.#watch.feed(resource.plural).push(...events);
    await this.#cluster.settled();
  }

  /** Lists a kind again, as after a broken watch: the changes in between never arrive. */
  async relist(resource: Resource): Promise<void> {
    this.#unheard.get(resource.plural)?.splice(0);
    await this.#watch.feed(resource.plural).list(...(await this.#cluster.list(resource)));
    await this.#cluster.settled();
  }

  end(): void {
    this.#end.abort();
  }
}
