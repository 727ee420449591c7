import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { cachesOver } from "../../src/cache/cluster-cache.ts";
import { type Controller, type ControllerOptions, createController } from "../../src/controllers/rollout/controller.ts";
import { ApiError, ConnectionError } from "../../src/kube/api/api-failure.ts";
import { type KubeObject, type Resource, resourcePath, resources } from "../../src/kube/api/resources.ts";
import type { ObjectEvent } from "../../src/kube/events/event-object.ts";
import type { ApiRequest } from "../../src/kube/http/api-request.ts";
import type { ApiClient } from "../../src/kube/http/client.ts";
import type { ByteStream } from "../../src/kube/http/open-request.ts";
import { type LogFields, silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { unpaced } from "./domain/objects.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeWatch } from "./fake-watch.ts";

/** Keeps connections open: with `fetch`, a request takes twice the processor time. */
const agent = new Agent({ keepAlive: true });

/** The simplest possible client of an API server. For tests only. */
export function httpClient(server: string): ApiClient {
  return {
    async request<T>({ method, path, query = {}, body, contentType = "application/json", signal }: ApiRequest) {
      const url = new URL(path, server);
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) url.searchParams.set(name, `${value}`);
      const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
      const headers = body === undefined ? {} : { "content-type": contentType, "content-length": bytes.length };
      const sent = request(url, { method, agent, headers, ...(signal && { signal }) });
      sent.end(bytes);
      const { status, after, text } = await answerTo(sent).catch((cause: unknown) => {
        signal?.throwIfAborted();
        throw new ConnectionError("the connection broke", { cause });
      });
      const answer = JSON.parse(text);
      if (status < 300) return answer as T;
      throw new ApiError({
        request: `${method} ${path}`,
        status,
        reason: answer.reason,
        serverMessage: answer.message,
        details: answer.details,
        retryAfterMs: after === undefined ? undefined : Number(after) * 1000,
      });
    },
    async stream({ query = {}, ...request }) {
      if (query.watch !== undefined) throw new Error("the caches of these tests are filled by hand");
      return bytesOf(await this.request({ query, ...request }));
    },
    close: async () => {},
  };
}

/** Returns the status, the header `retry-after` and the body of the answer. */
async function answerTo(sent: ClientRequest) {
  const [answer]: IncomingMessage[] = await once(sent, "response");
  let text = "";
  for await (const chunk of answer?.setEncoding("utf8") ?? []) text += chunk;
  return { status: answer?.statusCode ?? 0, after: answer?.headers["retry-after"], text };
}

/** Returns a response as the stream of its bytes. */
export function bytesOf(response: unknown): ByteStream {
  const chunks = async function* () {
    yield Buffer.from(JSON.stringify(response));
  };
  return Object.assign(chunks(), { [Symbol.asyncDispose]: async () => {} });
}

type Kind = "ConfigMap" | "Secret" | "Deployment" | "StatefulSet" | "DaemonSet";
const resourceOf: Readonly<Record<Kind, Resource>> = {
  ConfigMap: resources.configMaps,
  Secret: resources.secrets,
  Deployment: resources.deployments,
  StatefulSet: resources.statefulSets,
  DaemonSet: resources.daemonSets,
};

/** Returns a workload with one container that reads all keys of a ConfigMap, or with the given `podSpec`. */
export function workload(name: string, podSpec: object = {}, annotations: object = {}) {
  const main = { name: "main", image: "nginx", envFrom: [{ configMapRef: { name: "web" } }] };
  return {
    metadata: { name, annotations: { "wave.pusher.com/update-on-config-change": "true", ...annotations } },
    spec: {
      serviceName: "web",
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [main], ...podSpec } },
    },
  };
}

/** Returns the object key of `name` or `namespace/name`. */
function named(text: string): { readonly namespace: string; readonly name: string } {
  const [name = "", namespace = "default"] = text.split("/").reverse();
  return { namespace, name };
}

/**
 * A controller on an API server. Its caches contain only what the test shows them, so the test decides how
 * stale they are. Its clock does not move until the test moves it.
 */
export class TestCluster {
  readonly clock: FakeClock;
  readonly events: ObjectEvent[] = [];
  readonly logged: { readonly message: string; readonly fields: LogFields | undefined }[] = [];
  readonly metrics = new MetricsRegistry();
  readonly client: ApiClient;
  readonly controller: Controller;
  readonly #watch = new FakeWatch();
  readonly #caching = new AbortController();

  constructor(server: string, options: Partial<ControllerOptions> = {}, clock = new FakeClock()) {
    this.clock = clock;
    this.client = options.client ?? httpClient(server);
    const { metrics } = this;
    const caches = cachesOver(this.#watch, {
      namespaces: undefined,
      compatibility: options.policy?.compatibility,
      clock,
      log: silentLogger,
      metrics,
      onWorkloadChange: (change) => this.controller.onWorkloadChange(change),
      onConfigChange: (change) => this.controller.onConfigChange(change),
      onNamespaceChange: (namespace) => this.controller.onNamespaceChange(namespace),
      onOwnersChange: options.policy?.ownership && ((key) => this.controller.onOwnersChange(key)),
    });
    const keep = (message: string, fields?: LogFields) => void this.logged.push({ message, fields });
    this.controller = createController({
      client: this.client,
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
      log: { debug: () => {}, info: keep, warn: keep, error: keep },
      metrics,
      updateRate: Number.POSITIVE_INFINITY,
      updateBurst: 1,
      syncPeriodMs: 0,
      webhooks: false,
      random: () => 1,
      ...options,
      ...(options.policy?.compatibility && { policy: { ...options.policy, namesMatching: caches.namesMatching } }),
    });
    void caches.run(this.#caching.signal);
  }

  /** Shows the caches everything on the server: their first list. */
  async list(): Promise<void> {
    for (const { plural, ...resource } of Object.values(resourceOf)) {
      const path = resourcePath({ plural, ...resource }, {});
      const { items } = await this.client.request<{ items: KubeObject[] }>({ method: "GET", path });
      await this.#watch.feed(plural).list(...items);
    }
  }

  /** Shows the caches an object as it is on the server now, or its deletion. */
  async show(kind: Kind, name: string): Promise<void> {
    const object = await this.get(kind, name);
    const feed = this.#watch.feed(resourceOf[kind].plural);
    if (object !== undefined) await feed.push({ type: "apply", object });
    else await feed.push({ type: "delete", object: { metadata: named(name) } });
  }

  /** Creates an object without showing it to the caches. */
  create(kind: Kind, object: object, namespace = "default"): Promise<KubeObject> {
    const path = resourcePath(resourceOf[kind], { namespace });
    return this.client.request({ method: "POST", path, body: object });
  }

  /** Changes an object by a merge patch without showing it to the caches. */
  edit(kind: Kind, name: string, change: object): Promise<KubeObject> {
    const path = resourcePath(resourceOf[kind], named(name));
    return this.client.request({ method: "PATCH", path, body: change, contentType: "application/merge-patch+json" });
  }

  /** Completes the rollout of a Deployment, and shows that to the caches. */
  async completeRollout(name: string): Promise<void> {
    const { metadata } = (await this.get("Deployment", name)) ?? {};
    const one = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    const path = `${resourcePath(resources.deployments, named(name))}/status`;
    const body = { status: { observedGeneration: metadata?.generation, ...one } };
    await this.client.request({ method: "PATCH", path, body, contentType: "application/merge-patch+json" });
    await this.show("Deployment", name);
  }

  /** Deletes an object without showing this to the caches. */
  async remove(kind: Kind, name: string): Promise<void> {
    await this.client.request({ method: "DELETE", path: resourcePath(resourceOf[kind], named(name)) });
  }

  /** Returns an object as it is on the server; undefined if it does not exist. */
  async get(kind: Kind, name: string): Promise<KubeObject | undefined> {
    const path = resourcePath(resourceOf[kind], { namespace: named(name).namespace });
    const { items } = await this.client.request<{ items: KubeObject[] }>({ method: "GET", path });
    return items.find(({ metadata }) => metadata.name === named(name).name);
  }

  /** Stops the caches. */
  close(): void {
    this.#caching.abort();
  }
}
