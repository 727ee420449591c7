import { afterEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../sandbox/sandbox.ts";
import { eventually } from "../../test/support/eventually.ts";
import { digestOf } from "../domain/config/digest.ts";
import { type KubeList, type KubeObject, resourcePath, type WatchEvent } from "../kube/api/resources.ts";
import type { ReflectorEvent } from "../kube/list-watch/paged-list.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLogger } from "../telemetry/logging/log.ts";
import { MetricsRegistry } from "../telemetry/metrics/metrics.ts";
import { cachesOver } from "./cluster-cache.ts";
import type { ListNamespace, Watch, WatchTarget } from "./store/kind-cache.ts";

/** The lines of one watch that begins with what exists; ends when the connection does. */
async function* watchOnce<O extends KubeObject>(url: URL, signal: AbortSignal): AsyncGenerator<WatchEvent<O>> {
  const response = await fetch(url, { signal });
  let rest = "";
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

/** A minimal list-watch: it starts again from the beginning after each disconnect. */
async function* listAgain<O extends KubeObject>(
  server: string,
  { resource, namespace, fieldSelector }: WatchTarget,
  signal: AbortSignal,
): AsyncGenerator<ReflectorEvent<O>> {
  const url = new URL(resourcePath(resource, namespace === undefined ? {} : { namespace }), server);
  url.search = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  if (fieldSelector !== undefined) url.searchParams.set("fieldSelector", fieldSelector);
  while (!signal.aborted) {
    yield { type: "init" };
    let listing = true;
    try {
      for await (const { type, object } of watchOnce<O>(url, signal)) {
        if (type === "BOOKMARK") {
          if (listing) yield { type: "initDone" };
          listing = false;
        } else if (type === "DELETED") yield { type: "delete", object };
        else if (type !== "ERROR") yield { type: listing ? "initApply" : "apply", object };
      }
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** What there is at this moment. */
async function* listNow<O extends KubeObject>(
  server: string,
  { resource, namespace }: Parameters<ListNamespace>[0],
  signal: AbortSignal,
): AsyncGenerator<ReflectorEvent<O>> {
  const response = await fetch(new URL(resourcePath(resource, { namespace }), server), { signal });
  const { items } = (await response.json()) as KubeList<O>;
  for (const object of items ?? []) yield { type: "initApply", object };
}

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function startCaches() {
  const sandbox = await startSandbox({ controllers: false });
  const stop = new AbortController();
  const changes: string[] = [];
  const watch: Watch = (what, signal) => listAgain(sandbox.url, what, signal);
  const caches = cachesOver(
    { watch, list: (what, signal) => listNow(sandbox.url, what, signal) },
    {
      namespaces: undefined,
      clock: systemClock,
      log: silentLogger,
      metrics: new MetricsRegistry(),
      onWorkloadChange: ({ key }) => changes.push(key),
      onConfigChange: ({ key }) => changes.push(key),
      onNamespaceChange: () => {},
    },
  );
  const running = caches.run(stop.signal);
  cleanups.push(async () => {
    stop.abort();
    await running;
    await sandbox.close();
  });
  return { sandbox, caches, changes, stop };
}

async function send(sandbox: Sandbox, method: string, path: string, body?: unknown): Promise<void> {
  const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(`${sandbox.url}${path}`, {
    method,
    headers: { "content-type": contentType },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
}

const secrets = "/api/v1/namespaces/default/secrets";
const secret = (name: string, stringData: object, more: object = {}) => ({ metadata: { name }, stringData, ...more });
const web = {
  metadata: { name: "web", annotations: { "wave.pusher.com/update-on-config-change": "true" } },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "main", image: "nginx", envFrom: [{ secretRef: { name: "kept" } }] }] },
    },
  },
};

describe("the caches of an API server", () => {
  it("contain its objects, and after a broken connection announce only the missed changes", async () => {
    const { sandbox, caches, changes, stop } = await startCaches();
    const keyOf = (name: string) => {
      const config = caches.lookup("Secret", "default", name);
      return config && digestOf(config, "key");
    };
    await send(sandbox, "POST", secrets, secret("kept", { key: "1" }));
    await send(sandbox, "POST", secrets, secret("changed", { key: "1" }));
    await send(sandbox, "POST", secrets, secret("gone", { key: "1" }));
    await send(sandbox, "POST", secrets, secret("release", { key: "1" }, { type: "helm.sh/release.v1" }));
    await send(sandbox, "POST", "/apis/apps/v1/namespaces/default/deployments", web);
    await caches.whenSynced(stop.signal);
    await eventually(() => expect(caches.workload("Deployment/default/web")?.references).toHaveLength(1));
    expect([...caches.workloadsReading("Secret/default/kept")]).toEqual(["Deployment/default/web"]);
    expect(keyOf("kept")).toBe(keyOf("changed"));
    expect(keyOf("gone")).toBeDefined();
    expect(keyOf("release")).toBeUndefined();

    changes.length = 0;
    sandbox.dropConnections();
    await send(sandbox, "PATCH", `${secrets}/kept`, { metadata: { labels: { only: "labels" } } });
    await send(sandbox, "PATCH", `${secrets}/changed`, { stringData: { key: "2" } });
    await send(sandbox, "DELETE", `${secrets}/gone`);
    await eventually(() => expect(changes.toSorted()).toEqual(["Secret/default/changed", "Secret/default/gone"]));
    expect(keyOf("changed")).not.toBe(keyOf("kept"));
    expect(keyOf("gone")).toBeUndefined();
  });
});
