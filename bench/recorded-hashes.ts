import { type KubeObject, resources } from "../src/kube/api/resources.ts";
import type { ApiClient } from "../src/kube/http/client.ts";
import { listWatch } from "../src/kube/list-watch/list-watch.ts";
import { systemClock } from "../src/lib/clock.ts";
import { silentLogger } from "../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../src/telemetry/metrics/metrics.ts";

interface Deployment extends KubeObject {
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
}

/** What of the Deployments of a namespace changes, by a watch: as soon as anybody can know it. */
export interface ChangedTemplates {
  /** Resolves with the time (`performance.now()`) at which `count` Deployments had got something that they had not before. */
  readonly changed: (count: number) => Promise<number>;
  /** How many changes there were since the watch began. */
  readonly changes: () => number;
  readonly stop: () => void;
}

/** The hashes that Wave records. Begins to watch; resolves when what exists is known. */
export function watchHashes(client: ApiClient, namespace: string): Promise<ChangedTemplates> {
  return watchChanges(client, namespace, ({ metadata }) => metadata.annotations?.["wave.pusher.com/config-hash"]);
}

/** Whole pod templates, for changes by any client. Starts a watch; resolves when the existing objects are known. */
export function watchTemplates(client: ApiClient, namespace: string): Promise<ChangedTemplates> {
  return watchChanges(client, namespace, (template) => JSON.stringify(template));
}

async function watchChanges(
  client: ApiClient,
  namespace: string,
  partOf: (template: Deployment["spec"]["template"]) => string | undefined,
): Promise<ChangedTemplates> {
  const stop = new AbortController();
  const parts = new Map<string, string | undefined>();
  let changes = 0;
  let waiting: { left: number; resolve: (at: number) => void } | undefined;
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>();
  const options = { client, namespace, clock: systemClock, log: silentLogger, metrics: new MetricsRegistry() };
  const watch = async () => {
    const watched = { ...options, resource: resources.deployments, signal: stop.signal };
    for await (const event of listWatch<Deployment>(watched)) {
      if (event.type === "initDone") onSynced();
      if (event.type !== "apply" && event.type !== "initApply") continue;
      const { metadata, spec } = event.object;
      const part = partOf(spec.template);
      const isNew = part !== undefined && parts.get(metadata.name) !== part;
      parts.set(metadata.name, part);
      if (isNew && event.type === "apply") changes++;
      if (!isNew || waiting === undefined || --waiting.left > 0) continue;
      waiting.resolve(performance.now());
      waiting = undefined;
    }
  };
  watch().catch(() => {});
  await synced;
  return {
    changed: (count) =>
      new Promise((resolve) => {
        waiting = { left: count, resolve };
      }),
    changes: () => changes,
    stop: () => stop.abort(),
  };
}
