import type { KubeObject } from "../src/kube/api-types.ts";
import type { ApiClient } from "../src/kube/client.ts";
import { listWatch } from "../src/kube/list-watch.ts";
import { resources } from "../src/kube/resources.ts";
import { systemClock } from "../src/lib/clock.ts";
import { silentLogger } from "../src/telemetry/log.ts";
import { MetricsRegistry } from "../src/telemetry/metrics.ts";

interface Deployment extends KubeObject {
  readonly spec: { readonly template: { readonly metadata: { readonly annotations?: Record<string, string> } } };
}

/** The hashes that the Deployments of a namespace record, by a watch: as soon as anybody can know them. */
export interface RecordedHashes {
  /** Resolves with the time (`performance.now()`) at which `count` Deployments had got a hash that they had not before. */
  readonly changed: (count: number) => Promise<number>;
  readonly stop: () => void;
}

/** Begins to watch; resolves when what exists is known. */
export async function watchHashes(client: ApiClient, namespace: string): Promise<RecordedHashes> {
  const stop = new AbortController();
  const hashes = new Map<string, string | undefined>();
  let waiting: { left: number; resolve: (at: number) => void } | undefined;
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>();
  const options = { client, namespace, clock: systemClock, log: silentLogger, metrics: new MetricsRegistry() };
  const watch = async () => {
    const watched = { ...options, resource: resources.deployments, signal: stop.signal };
    for await (const event of listWatch<Deployment>(watched)) {
      if (event.type === "initDone") onSynced();
      if (event.type !== "apply" && event.type !== "initApply") continue;
      const { metadata, spec } = event.object;
      const hash = spec.template.metadata.annotations?.["wave.pusher.com/config-hash"];
      const isNew = hash !== undefined && hashes.get(metadata.name) !== hash;
      hashes.set(metadata.name, hash);
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
    stop: () => stop.abort(),
  };
}
