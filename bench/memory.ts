import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { resourcePath, resources } from "../src/kube/api/resources.ts";
import { freePort, startWave, until, wave } from "../test/control-plane/wave-process.ts";
import { createDeployment, type Plane, startPlane, times } from "./plane.ts";
import { watchHashes } from "./recorded-hashes.ts";

/** What Wave needs to know a cluster of a size. Memory in MiB, of the whole process, as the kernel counts it. */
export interface MemoryFigures {
  readonly secrets: number;
  readonly workloads: number;
  /** From the start of the process until /readyz says ready. */
  readonly secondsToSynced: number;
  /** 30 s after that. */
  readonly resident: number;
  readonly anonymous: number;
  /** The most that was ever resident. */
  readonly peak: number;
  /** All requests until then, by verb. */
  readonly requests: string;
}

const namespace = "memory";

/** Grows one cluster through the sizes and starts a Wave of its own at each, when nothing is to be written. */
export async function measureMemory(
  sizes: readonly { readonly secrets: number; readonly workloads: number }[],
  say: (figures: MemoryFigures) => void = () => {},
): Promise<readonly MemoryFigures[]> {
  const plane = await startPlane([namespace]);
  const { client } = plane;
  const figures: MemoryFigures[] = [];
  let [secrets, workloads] = [0, 0];
  try {
    for (const size of sizes) {
      const [firstSecret, firstWorkload] = [secrets, workloads];
      ({ secrets, workloads } = size);
      await times(secrets - firstSecret, 32, (index) => createSecret(plane, `secret-${firstSecret + index}`));
      const hashes = await watchHashes(client, namespace);
      const hashed = hashes.changed(workloads - firstWorkload);
      await times(workloads - firstWorkload, 32, (index) => createWorkload(plane, firstWorkload + index));
      if (workloads > firstWorkload) {
        const first = await startWave([
          `--kubeconfig=${plane.jsonKubeconfig}`,
          "--update-rate=unlimited",
          "--log-level=warn",
        ]);
        await hashed;
        await first.stop();
      }
      hashes.stop();
      const measured = { secrets, workloads, ...(await measureStart(plane)) };
      figures.push(measured);
      say(measured);
    }
  } finally {
    await plane.stop();
  }
  return figures;
}

const value = Buffer.alloc(4096, "x").toString("base64");

function createSecret({ client }: Plane, name: string): Promise<unknown> {
  const path = resourcePath(resources.secrets, { namespace });
  return client.request({ method: "POST", path, body: { metadata: { name }, data: { blob: value } } });
}

/** Each workload reads a ConfigMap of its own and one of the Secrets. It is complete, also after Wave has written to it. */
async function createWorkload({ client }: Plane, index: number): Promise<void> {
  const name = `app-${index}`;
  const path = resourcePath(resources.configMaps, { namespace });
  await client.request({ method: "POST", path, body: { metadata: { name }, data: { a: "1", b: "2" } } });
  await createDeployment(client, namespace, name, { configMap: name, secret: `secret-${index}` });
  const status = { observedGeneration: 1_000 };
  const contentType = "application/merge-patch+json";
  const deployment = `${resourcePath(resources.deployments, { namespace, name })}/status`;
  await client.request({ method: "PATCH", path: deployment, body: { status }, contentType });
}

/** Starts a Wave with these flags, and measures it 30 s after its caches were synced. */
export async function measureStart({ jsonKubeconfig }: Plane, more: readonly string[] = []) {
  const [metrics, probes] = [await freePort(), await freePort()];
  const flags = [`--metrics-bind-address=127.0.0.1:${metrics}`, `--health-probe-bind-address=127.0.0.1:${probes}`];
  const begin = performance.now();
  const child = spawn(wave, ["run", `--kubeconfig=${jsonKubeconfig}`, ...flags, ...more], { stdio: "ignore" });
  try {
    await until("wave to be synced", async () =>
      (await fetch(`http://127.0.0.1:${probes}/readyz`)).ok ? true : undefined,
    );
    const secondsToSynced = (performance.now() - begin) / 1000;
    await new Promise((resolve) => setTimeout(resolve, 30_000));
    const memory = memoryOf(child.pid ?? 0);
    const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
    const requests = Array.from(
      text.matchAll(/^wave_api_requests_total\{verb="(\w+)",code="\w+"\} ([1-9]\d*)/gm),
      ([, verb, count]) => `${count} ${verb}`,
    );
    return { secondsToSynced, ...memory, requests: requests.join(", ") };
  } finally {
    child.kill();
  }
}

/** MiB of a process now, and the most that it ever had. */
export function memoryOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  return { resident: field("VmRSS"), anonymous: field("RssAnon"), peak: field("VmHWM") };
}
