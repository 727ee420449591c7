import { fork } from "node:child_process";
import { once } from "node:events";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { cachesOver } from "../src/cache/cluster-cache.ts";
import type { Watch } from "../src/cache/store/kind-cache.ts";
import { type KubeObject, resources } from "../src/kube/api/resources.ts";
import { loadClusterConfig } from "../src/kube/config/cluster-config.ts";
import { createApiClient } from "../src/kube/http/client.ts";
import { listOnce, listWatch } from "../src/kube/list-watch/list-watch.ts";
import type { ReflectorEvent } from "../src/kube/list-watch/paged-list.ts";
import { systemClock } from "../src/lib/clock.ts";
import { silentLogger } from "../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../src/telemetry/metrics/metrics.ts";
import { createWebhook } from "../src/webhook/webhook.ts";
import { unpaced } from "../test/support/domain/objects.ts";
import { waveEnv, waveFlags } from "./wave-node.ts";

/** What a {@link RelistingWave} is started with. */
export interface RelistingOptions {
  readonly kubeconfig: string;
  /** Where its certificate authority is kept. */
  readonly namespace: string;
  /** The port on 127.0.0.1 on which it serves webhooks. */
  readonly port: number;
}

/** What it has done so far. */
export interface Relisted {
  /** Lists that were complete. */
  readonly lists: number;
  /** The longest time that its event loop was late since it was asked last, in milliseconds. */
  readonly longestTurn: number;
}

/** A process of Wave's caches and webhook on one event loop and one connection, in which Secrets are listed for ever. */
export interface RelistingWave {
  readonly pid: number;
  readonly relisted: () => Promise<Relisted>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts one; resolves when it serves and has a first list. A watch that an API server answers with 410 lists everything
 * again, which no API server can be made to do just when a measurement wants it: here each list that is complete counts
 * as forgotten. All else is as in `wave run`.
 */
export async function startRelistingWave(options: RelistingOptions): Promise<RelistingWave> {
  const child = fork(import.meta.filename, [JSON.stringify(options)], {
    execArgv: [...waveFlags],
    env: waveEnv,
  });
  await once(child, "message");
  return {
    pid: child.pid ?? 0,
    relisted: async () => {
      child.send("relisted");
      const [relisted] = await once(child, "message");
      return relisted as Relisted;
    },
    stop: async () => {
      child.kill();
      await once(child, "exit");
    },
  };
}

async function run({ kubeconfig, namespace, port }: RelistingOptions): Promise<void> {
  const config = await loadClusterConfig({ kubeconfigFlag: kubeconfig, env: {}, homeDir: "/" });
  const metrics = new MetricsRegistry();
  const shared = { clock: systemClock, metrics, log: silentLogger };
  const client = createApiClient({ config, clock: systemClock, metrics, userAgent: "wave" });
  const end = new AbortController();
  process.once("SIGTERM", () => end.abort());
  let lists = 0;

  async function* forgetful<T extends KubeObject>(what: Parameters<Watch>[0], signal: AbortSignal) {
    while (!signal.aborted) {
      for await (const event of listWatch<T>({ client, ...what, ...shared, signal })) {
        yield event as ReflectorEvent<T>;
        if (event.type !== "initDone") continue;
        lists++;
        break;
      }
    }
  }
  const nothing = { onConfigChange: () => {}, onWorkloadChange: () => {}, onNamespaceChange: () => {} };
  const caches = cachesOver(
    {
      watch: (what, signal) =>
        what.resource === resources.secrets
          ? forgetful(what, signal)
          : listWatch({ client, ...what, ...shared, signal }),
      list: (what, signal) => listOnce({ client, ...what, ...shared, signal }),
    },
    { ...shared, ...nothing, namespaces: undefined },
  );
  const webhook = createWebhook({
    ...shared,
    client,
    cached: caches.lookup,
    policy: { crossNamespace: "granted", namespaces: undefined, schedulingHold: true, pacing: unpaced },
    bindAddress: `127.0.0.1:${port}`,
    namespace,
    serviceName: "relisting",
    url: new URL(`https://127.0.0.1:${port}`),
    tlsDirectory: undefined,
  });
  const running = Promise.all([caches.run(end.signal), webhook.run(end.signal)]);
  await caches.whenSynced(end.signal);
  while (webhook.ready() !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
  const permits = monitorEventLoopDelay({ resolution: 1 });
  permits.enable();
  process.on("message", () => {
    process.send?.({ lists, longestTurn: permits.max / 1e6 } satisfies Relisted);
    permits.reset();
  });
  process.send?.("serving");
  await running;
  await client.close();
  // The parent may have gone first.
  if (process.connected) process.disconnect();
}

if (import.meta.main) await run(JSON.parse(process.argv[2] ?? "{}"));
