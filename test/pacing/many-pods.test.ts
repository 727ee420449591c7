import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../sandbox/sandbox.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { type CommandScene, commandScene } from "../support/cli/commands.ts";

const ns = "many";
const total = 10_000;
const mixedPods = 3;
const hashName = "wave.pusher.com/config-hash";

/** The most objects of one page. */
const maxPage = 500;

describe("ten thousand Pods under one selector", () => {
  let sandbox: Sandbox;
  let scene: CommandScene;
  let wave: WaveProcess | undefined;

  beforeAll(async () => {
    sandbox = await startSandbox({ controllers: false });
    scene = commandScene(sandbox, ns);
    await scene.createNamespace(ns);
    for (const name of ["page", "flags"]) await scene.createConfigMap(name, "1");
    await scene.createWorkload("daemonsets/big");
    await scene.createWorkload("deployments/small", { envFrom: [{ configMapRef: { name: "flags" } }] });
    for (const path of ["daemonsets/big", "deployments/small"]) await scene.roll(path);
    await createPods();
    // One Pod after the other, on a machine that may be very busy.
  }, 1_200_000);
  afterAll(async () => {
    await wave?.stop();
    await sandbox?.close();
  });

  /** Creates the Pods of the DaemonSet. A few started while its configuration was another. */
  async function createPods(): Promise<void> {
    const hash = await hashOf("daemonsets/big");
    // A time after the rollout, and before the Pods are created.
    const rolledAt = Date.now();
    await until("the end of that time", async () => (Date.now() > rolledAt + 14_000 ? true : undefined));
    const [from, within, to] = [1, 4, 8].map((seconds) => {
      return `${new Date(rolledAt + seconds * 1_000).toISOString().slice(0, 19)}Z`;
    });
    const { metadata } = await scene.read("daemonsets/big");
    const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "big", uid: metadata.uid, controller: true };
    const pods = `${sandbox.url}/api/v1/namespaces/${ns}/pods`;
    for (let index = 0; index < total; index++) {
      const body = JSON.stringify({
        metadata: {
          name: `big-${index}`,
          labels: { app: "big" },
          annotations: { [hashName]: hash },
          ownerReferences: [owner],
        },
        spec: { containers: [{ name: "web", image: "nginx", envFrom: [{ configMapRef: { name: "page" } }] }] },
      });
      const headers = { "content-type": "application/json" };
      // On a very busy machine a connection may take longer than `fetch` waits.
      await until("a new Pod", async () => {
        const response = await fetch(pods, { method: "POST", headers, body });
        await response.text();
        return response.ok || response.status === 409 ? true : undefined;
      });
    }
    for (let index = 0; index < mixedPods; index++) {
      const containerStatuses = [
        { name: "web", ready: true, restartCount: 0, state: { running: { startedAt: within } } },
      ];
      const conditions = [{ type: "Ready", status: "True" }];
      const status = { phase: "Running", startTime: within, conditions, containerStatuses };
      await scene.merge(`pods/big-${index}/status`, { status });
    }
    // The hold keeps the Pods.
    const differed = { "wave.pusher.com/config-differed": `${hash} ${from}/${to}`, "wave.pusher.com/hold": "true" };
    await scene.merge("daemonsets/big", { metadata: { annotations: differed } }, "wave-annotations");
  }

  async function hashOf(path: string): Promise<string | undefined> {
    const { spec } = (await scene.read(path)) as unknown as {
      spec: { template: { metadata: { annotations: Record<string, string> } } };
    };
    return spec.template.metadata.annotations[hashName];
  }

  const events = async (reason: string) => {
    const response = await fetch(`${sandbox.url}/api/v1/namespaces/${ns}/events`);
    const { items } = (await response.json()) as { items: readonly { reason: string; message: string }[] };
    return items.filter((event) => event.reason === reason);
  };

  it("are read in pages, and do not delay other workloads", { timeout: 600_000 }, async () => {
    /** The requests for pages of the Pods. */
    const pages: URLSearchParams[] = [];
    let isHeld = true;
    // The API server does not answer requests for a second page until the test allows it.
    const match = ({ path, query }: { readonly path: string; readonly query: URLSearchParams }) => {
      if (path !== `/api/v1/namespaces/${ns}/pods` || query.get("labelSelector") !== "app=big") return false;
      pages.push(query);
      return isHeld && query.has("continue");
    };
    sandbox.faults.add({ match, action: { type: "blackHole" } });
    wave = await startWave(["--kubeconfig", scene.env.KUBECONFIG ?? ""]);
    await until("the second page", async () => (pages.some((query) => query.has("continue")) ? true : undefined));
    const hash = await hashOf("deployments/small");
    await scene.editConfigMap("flags", "2");
    await until("the rollout of the other workload", async () =>
      (await hashOf("deployments/small")) === hash ? undefined : true,
    );
    expect(await events("RolloutHeld")).toEqual([]);
    isHeld = false;
    pages.length = 0;
    sandbox.dropConnections();
    const [event] = await until(
      "the report",
      async () => {
        const found = await events("RolloutHeld");
        return found.length > 0 ? found : undefined;
      },
      280_000,
    );
    expect(event?.message).toContain(`${mixedPods} of ${total} Pods may run configuration that was reverted`);
    for (const query of pages) expect(Number(query.get("limit"))).toBeLessThanOrEqual(maxPage);
    // A reading may begin again after a broken connection. Only its first page is small.
    const starts = [0, ...pages.flatMap((query, index) => (query.has("continue") ? [] : [index])), pages.length];
    const longest = Math.max(...starts.slice(1).map((end, index) => end - (starts[index] ?? 0)));
    expect(longest).toBeGreaterThan(total / maxPage - 2);
    expect(longest).toBeLessThan((2 * total) / maxPage);
  });
});
