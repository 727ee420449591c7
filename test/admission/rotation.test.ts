import { createServer, connect as dial, type Socket } from "node:net";
import { expect, it } from "vitest";
import { loadClusterConfig } from "../../src/kube/config/cluster-config.ts";
import { createApiClient } from "../../src/kube/http/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLogger } from "../../src/telemetry/logging/log.ts";
import { MetricsRegistry } from "../../src/telemetry/metrics/metrics.ts";
import { createWebhook, type Webhook } from "../../src/webhook/webhook.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { describeOnControlPlane } from "../control-plane/suite.ts";
import { freePort, until } from "../control-plane/wave-process.ts";
import { makeNamespace, workload, workloadPath } from "../end-to-end/objects.ts";
import { unpaced } from "../support/domain/objects.ts";
import { configurations, reads } from "./admitted.ts";

const ns = "admission-rotation";
/** The warnings of the replicas, to explain a failure. */
const said: string[] = [];
const note = (message: string, fields?: object) => void said.push(`${message} ${JSON.stringify(fields)}`);
const log = { ...silentLogger, warn: note, error: note };
/** Short, so that authorities change about every 25 s. The API server has 2 s to receive each of them, for a busy machine. */
const lifetimes = { authorityMs: 30_000, servingMs: 18_000, overlapMs: 4_000, holdMs: 2_000 };

interface Registered {
  readonly webhooks: readonly { readonly clientConfig: { readonly url: string } }[];
}

interface Replica {
  readonly webhook: Webhook;
  readonly stop: () => Promise<void>;
}

/** Starts one replica in this process, behind a URL that several replicas share. */
async function startReplica(cluster: Cluster, url: URL): Promise<Replica> {
  const config = await loadClusterConfig({ kubeconfigFlag: cluster.kubeconfig, env: {}, homeDir: "/nonexistent" });
  const base = { clock: systemClock, log, metrics: new MetricsRegistry() };
  const client = createApiClient({ ...base, config, userAgent: "rotation-test" });
  const webhook = createWebhook({
    ...base,
    client,
    cached: () => undefined,
    policy: { crossNamespace: "none", namespaces: [ns], schedulingHold: true, pacing: unpaced },
    bindAddress: "127.0.0.1:0",
    namespace: ns,
    serviceName: "rotation",
    url,
    tlsDirectory: undefined,
    lifetimes,
  });
  const stop = new AbortController();
  const done = webhook.run(stop.signal);
  await until("a replica to be ready", async () => webhook.ready() === undefined || undefined);
  return {
    webhook,
    stop: async () => {
      stop.abort();
      await done;
      await client.close();
    },
  };
}

/** Distributes connections to the replicas in turn, as a Service does. */
async function balance(port: number, replicas: readonly Replica[]) {
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((inbound) => {
    const to = replicas[turn++ % replicas.length]?.webhook.port() ?? 0;
    const outbound = dial(to, "127.0.0.1");
    for (const socket of [inbound, outbound]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        open.delete(socket);
        inbound.destroy();
        outbound.destroy();
      });
    }
    inbound.pipe(outbound).pipe(inbound);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
}

/** Pause between requests, so that a stream leaves CPU time for other tests. */
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describeOnControlPlane("rotation of the webhook's authorities", (cluster) => {
  it("fails no review of a steady stream, with two replicas", async () => {
    const namespace = await makeNamespace(cluster, ns);
    await namespace.configMap("page", { a: "1" });
    const port = await freePort();
    const url = new URL(`https://127.0.0.1:${port}`);
    const replicas = [await startReplica(cluster, url), await startReplica(cluster, url)];
    const stopBalancing = await balance(port, replicas);

    const path = `${workloadPath(ns, "Deployment")}?dryRun=All`;
    const object = workload("web", reads("page"));
    const admitted = async () => {
      const answer = await cluster.api<{ spec: { template: { metadata: { annotations?: object } } } }>(
        "POST",
        path,
        object,
      );
      return answer.spec.template.metadata.annotations !== undefined;
    };
    await until("the API server to ask", async () => (await admitted()) || undefined);

    const authorities = new Set<string | undefined>();
    const called = new Set<string>();
    const registration = `${configurations}/wave-127.0.0.1-${port}`;
    const secret = `/api/v1/namespaces/${ns}/secrets/rotation-authority`;
    let [reviews, failures] = [0, 0];
    const goesOn = () => reviews <= 200 || authorities.size < 3 || called.size < 3;
    const stream = async () => {
      while (goesOn()) {
        if (!(await admitted())) failures++;
        reviews++;
        await pause(5);
      }
    };
    const watch = async () => {
      while (goesOn()) {
        authorities.add((await cluster.api<{ data: Record<string, string> }>("GET", secret)).data["tls.crt"]);
        const { webhooks } = await cluster.api<Registered>("GET", registration);
        for (const { clientConfig } of webhooks) called.add(clientConfig.url);
        await pause(250);
      }
    };
    await Promise.all([stream(), stream(), watch()]);
    await Promise.all(replicas.map((replica) => replica.stop()));
    stopBalancing();

    // More than 200 reviews, while the authorities and the secret path rotated twice.
    expect(failures, said.join("\n")).toBe(0);
    for (const address of called) expect(address).toMatch(/\/mutate\/[0-9a-f]{32}$/);
    await expect(cluster.api("GET", registration)).rejects.toThrow("404");
  });
});
