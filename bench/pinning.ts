import { resourcePath, resources } from "../src/kube/api/resources.ts";
import type { ApiClient } from "../src/kube/http/client.ts";
import { connect } from "../test/control-plane/cluster.ts";
import { freePort, startWave } from "../test/control-plane/wave-process.ts";
import { pointsPods } from "../test/pinning/pointed.ts";
import { applyPointingPolicy } from "../test/pinning/scenarios.ts";
import { measureStart } from "./memory.ts";
import { createDeployment, type Plane, quantile, startPlane, times } from "./plane.ts";
import { watchHashes } from "./recorded-hashes.ts";

/** Milliseconds of one kind of request. */
export interface PinningTimes {
  readonly title: string;
  readonly count: number;
  readonly minimum: number;
  readonly p50: number;
}

/** Rows that were measured in turns. The first one is without pinned configuration. */
export type PinningRows = readonly PinningTimes[];

function timesOf(title: string, milliseconds: readonly number[]): PinningTimes {
  const [minimum, p50] = [quantile(milliseconds, 0), quantile(milliseconds, 0.5)];
  return { title, count: milliseconds.length, minimum, p50 };
}

const [edited, byPolicy, byWebhook, unpointed] = ["edited", "by-policy", "by-webhook", "unpointed"];
const optIn = { "wave.pusher.com/pin-config": "true" };

/** Edits the ConfigMaps of a pinned and of another Deployment in turns, one edit at a time. A namespace stores at most 200 copies. */
export async function measurePinnedEdits(edits = 120): Promise<PinningRows> {
  const plane = await startPlane([edited]);
  const { client } = plane;
  try {
    for (const name of ["live", "pinned"]) {
      const body = { metadata: { name }, data: { a: "0" } };
      await client.request({ method: "POST", path: configMaps(edited), body });
      await createDeployment(client, edited, name, { configMap: name });
    }
    const path = resourcePath(resources.deployments, { namespace: edited, name: "pinned" });
    await client.request({ method: "PATCH", path, body: { metadata: { annotations: optIn } } });
    const hashes = await watchHashes(client, edited);
    const first = hashes.changed(2);
    const flags = ["--update-rate=unlimited", "--pin-config", "--log-level=warn"];
    const wave = await startWave([`--kubeconfig=${plane.jsonKubeconfig}`, ...flags]);
    await first;
    const milliseconds: Record<string, number[]> = { live: [], pinned: [] };
    // The first edits warm up client, server and Wave.
    for (let edit = -20; edit < edits; edit++) {
      for (const [name, all] of Object.entries(milliseconds)) {
        const patched = hashes.changed(1);
        const from = performance.now();
        const configMap = resourcePath(resources.configMaps, { namespace: edited, name });
        await client.request({ method: "PATCH", path: configMap, body: { data: { a: `${edit}` } } });
        const at = await patched;
        if (edit >= 0) all.push(at - from);
      }
    }
    hashes.stop();
    await wave.stop();
    return [timesOf("not pinned", milliseconds.live ?? []), timesOf("pinned", milliseconds.pinned ?? [])];
  } finally {
    await plane.stop();
  }
}

/** Creates Pods with 10 references in turns: without pins, pointed by the policy, and pointed by the webhook. */
export async function measurePodCreations(pods = 300): Promise<PinningRows> {
  const plane = await startPlane([unpointed, byPolicy, byWebhook]);
  const { client } = plane;
  const cluster = connect(plane);
  try {
    for (const namespace of [unpointed, byPolicy, byWebhook]) {
      const path = resourcePath(resources.serviceAccounts, { namespace });
      await client.request({ method: "POST", path, body: { metadata: { name: "default" } } });
    }
    await applyPointingPolicy(cluster, byPolicy);
    const address = `127.0.0.1:${await freePort()}`;
    const webhook = ["--enable-webhooks", `--webhook-bind-address=${address}`, `--webhook-url=https://${address}`];
    const flags = [`--namespaces=${byWebhook}`, "--pin-config", "--webhook-service-name=bench", ...webhook];
    const wave = await startWave([`--kubeconfig=${plane.jsonKubeconfig}`, ...flags]);
    for (const namespace of [byPolicy, byWebhook]) await pointsPods(cluster, namespace);
    const rows = [unpointed, byPolicy, byWebhook].map((namespace) => ({ namespace, milliseconds: [] as number[] }));
    for (let index = -20; index < pods; index++) {
      for (const { namespace, milliseconds } of rows) {
        const from = performance.now();
        await createPod(client, namespace, `pod-${index + 20}`);
        if (index >= 0) milliseconds.push(performance.now() - from);
      }
    }
    await wave.stop();
    const titles = ["not pinned", "pointed by the policy", "pointed by the webhook"];
    return rows.map(({ milliseconds }, at) => timesOf(titles[at] ?? "", milliseconds));
  } finally {
    await plane.stop();
  }
}

function createPod(client: ApiClient, namespace: string, name: string): Promise<unknown> {
  const names = Array.from({ length: 10 }, (_, index) => `page-${index}x`);
  const pinned = names.map((each) => `${each}=${each}-0123456789`).join(",");
  const envFrom = names.map((each) => ({ configMapRef: { name: each, optional: true } }));
  return client.request({
    method: "POST",
    path: resourcePath(resources.pods, { namespace }),
    body: {
      metadata: { name, ...(namespace !== unpointed && { annotations: { "wave.pusher.com/pinned": pinned } }) },
      spec: { containers: [{ name: "app", image: "nginx", envFrom }] },
    },
  });
}

/** Memory of Wave in MiB, 30 s after its caches were synced. */
export interface PinningMemory {
  readonly workloads: number;
  readonly copies: number;
  readonly resident: number;
  readonly anonymous: number;
}

/** Starts a Wave before and after the workloads of some namespaces are pinned, when nothing is to be written. */
export async function measurePinnedMemory(namespaces = 14, each = 140): Promise<readonly PinningMemory[]> {
  const names = Array.from({ length: namespaces }, (_, index) => `memory-${index}`);
  const plane = await startPlane(names);
  const { client } = plane;
  const workloads = namespaces * each;
  const figures: PinningMemory[] = [];
  const flags = ["--pin-config", "--update-rate=unlimited"];
  try {
    await times(workloads, 32, async (index) => {
      const [namespace = "", name] = [names[index % namespaces], `app-${index}`];
      const body = { metadata: { name }, data: { a: "1", b: "2" } };
      await client.request({ method: "POST", path: configMaps(namespace), body });
      await createDeployment(client, namespace, name, { configMap: name });
    });
    await writtenBy(plane, names, each, flags);
    figures.push({ workloads, copies: 0, ...(await measureStart(plane, flags)) });
    // A rollout pins: an edit of each ConfigMap.
    for (const name of names) {
      const path = resourcePath(resources.namespaces, { name });
      await client.request({ method: "PATCH", path, body: { metadata: { annotations: optIn } } });
    }
    await times(workloads, 32, (index) => {
      const path = resourcePath(resources.configMaps, { namespace: names[index % namespaces], name: `app-${index}` });
      return client.request({ method: "PATCH", path, body: { data: { a: "2" } } });
    });
    await writtenBy(plane, names, each, flags);
    figures.push({ workloads, copies: workloads, ...(await measureStart(plane, flags)) });
    return figures;
  } finally {
    await plane.stop();
  }
}

/** Runs a Wave until it has written the hashes of all workloads. */
async function writtenBy(plane: Plane, names: readonly string[], each: number, flags: readonly string[]) {
  const watches = await Promise.all(names.map((namespace) => watchHashes(plane.client, namespace)));
  const written = Promise.all(watches.map(({ changed }) => changed(each)));
  const wave = await startWave([`--kubeconfig=${plane.jsonKubeconfig}`, "--log-level=warn", ...flags]);
  await written;
  await wave.stop();
  for (const watch of watches) watch.stop();
}

/** One write to a copy with this number of owners. */
export interface OwnedCopy extends PinningTimes {
  readonly owners: number;
  readonly bytes: number;
}

/** Writes the mark of the collector to copies with other numbers of owners in turns. Wave itself writes at most 50 owners. */
export async function measureOwners(
  counts: readonly number[] = [1, 50, 500],
  writes = 100,
): Promise<readonly OwnedCopy[]> {
  const plane = await startPlane(["owners"]);
  const { client } = plane;
  try {
    const rows = counts.map((owners) => ({ owners, milliseconds: [] as number[], bytes: 0 }));
    for (const { owners } of rows) {
      const ownerReferences = Array.from({ length: owners }, (_, index) => ({
        apiVersion: "apps/v1",
        kind: "Deployment",
        name: `deployment-${index}`,
        uid: `00000000-0000-0000-0000-${String(index).padStart(12, "0")}`,
      }));
      const metadata = { name: `copy-${owners}`, ownerReferences };
      await client.request({ method: "POST", path: configMaps("owners"), body: { metadata, immutable: true } });
    }
    for (let write = -10; write < writes; write++) {
      for (const row of rows) {
        const path = resourcePath(resources.configMaps, { namespace: "owners", name: `copy-${row.owners}` });
        const body = { metadata: { annotations: { "wave.pusher.com/unused-since": `${write}` } } };
        const from = performance.now();
        const stored = await client.request<object>({ method: "PATCH", path, body });
        if (write >= 0) row.milliseconds.push(performance.now() - from);
        row.bytes = JSON.stringify(stored).length;
      }
    }
    return rows.map(({ owners, milliseconds, bytes }) => ({ owners, bytes, ...timesOf(`${owners}`, milliseconds) }));
  } finally {
    await plane.stop();
  }
}

function configMaps(namespace: string): string {
  return resourcePath(resources.configMaps, { namespace });
}
