import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { resourcePath, resources } from "../src/kube/api/resources.ts";
import { loadClusterConfig } from "../src/kube/config/cluster-config.ts";
import { type ApiClient, createApiClient } from "../src/kube/http/client.ts";
import { systemClock } from "../src/lib/clock.ts";
import { type ControlPlane, startControlPlane } from "../test/control-plane/control-plane.ts";

/** An API server for measurements. Only Wave acts on its objects, unless an option adds controllers. */
export interface Plane extends ControlPlane {
  /**
   * The kubeconfig as JSON, which Wave reads without loading a YAML parser: as in a Pod, where there is no kubeconfig at
   * all.
   */
  readonly jsonKubeconfig: string;
  readonly client: ApiClient;
}

/** Starts it, with a namespace for each name. With `workloads` other controllers act on Deployments, too. */
export async function startPlane(
  namespaces: readonly string[],
  { workloads = false, apiServerFlags = [] }: Parameters<typeof startControlPlane>[0] = {},
): Promise<Plane> {
  const plane = await startControlPlane({ workloads, apiServerFlags });
  const jsonKubeconfig = join(plane.kubeconfig, "../kubeconfig.json");
  writeFileSync(jsonKubeconfig, JSON.stringify(parse(readFileSync(plane.kubeconfig, "utf8"))));
  const config = await loadClusterConfig({ kubeconfigFlag: jsonKubeconfig, env: {}, homeDir: "/" });
  const client = createApiClient({ config, clock: systemClock, userAgent: "bench" });
  for (const name of namespaces) {
    await client.request({ method: "POST", path: resourcePath(resources.namespaces), body: { metadata: { name } } });
  }
  const stop = async () => {
    await client.close();
    await plane.stop();
  };
  return { ...plane, jsonKubeconfig, client, stop };
}

/** Calls `each` for 0 to `count` - 1, `concurrency` at a time. */
export async function times(
  count: number,
  concurrency: number,
  each: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await each(index);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Creates a Deployment, without Pods unless it is given `replicas`, with `padding` bytes more, that reads a ConfigMap and a Secret, or one of them, and has opted in. */
export function createDeployment(
  client: ApiClient,
  namespace: string,
  name: string,
  reads: { readonly configMap?: string; readonly secret?: string },
  { replicas = 0, padding = 0 } = {},
): Promise<unknown> {
  const envFrom = [
    ...(reads.configMap === undefined ? [] : [{ configMapRef: { name: reads.configMap } }]),
    ...(reads.secret === undefined ? [] : [{ secretRef: { name: reads.secret } }]),
  ];
  return client.request({
    method: "POST",
    path: resourcePath(resources.deployments, { namespace }),
    body: {
      metadata: { name, annotations: { "wave.pusher.com/update-on-config-change": "true" } },
      spec: {
        replicas,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: {
            containers: [
              {
                name: "app",
                image: "nginx",
                envFrom,
                ...(padding > 0 && { env: [{ name: "PADDING", value: "x".repeat(padding) }] }),
              },
            ],
          },
        },
      },
    },
  });
}

/** The value at a quantile of numbers in any order. */
export function quantile(numbers: readonly number[], q: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}
