import { setTimeout as sleep } from "node:timers/promises";
import { reads } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { newHash, recordedHash } from "../end-to-end/state.ts";

/** What a team saw of Wave while it edited its ConfigMap every second. */
export interface Seen {
  readonly edits: number;
  /** From the slowest edit to its new hash, in milliseconds, without what the machine made Wave and the test wait. */
  readonly slowestMs: number;
}

/** A team that shares the cluster with whoever attacks, and nothing else. */
export interface Victim {
  readonly namespace: Namespace;
  /** Edits every second from now on; `stop` resolves when the last edit is rolled, and rejects where one is not. */
  readonly edit: () => { readonly stop: () => Promise<Seen> };
}

/**
 * Makes the team's namespace, with a Deployment that reads a ConfigMap and already has its hash. `waited` says how long the machine has
 * made Wave and the test wait.
 */
export async function makeVictim(cluster: Cluster, name: string, waited: () => number): Promise<Victim> {
  const namespace = await makeNamespace(cluster, name);
  await namespace.configMap("app", { a: "0" });
  await namespace.create(workload("app", reads("app"), { spec: { replicas: 0 } }));
  await newHash(cluster, name, "Deployment", "app");
  let edits = 0;

  async function editOnce(): Promise<number> {
    const before = await recordedHash(cluster, name, "Deployment", "app");
    const from = performance.now() - waited();
    await namespace.edit("ConfigMap", "app", { a: String(++edits) });
    await newHash(cluster, name, "Deployment", "app", before);
    return performance.now() - waited() - from;
  }

  return {
    namespace,
    edit() {
      let stopped = false;
      const run = async (): Promise<Seen> => {
        const times: number[] = [];
        do {
          times.push(await editOnce());
          await sleep(Math.max(0, 1000 - (times.at(-1) ?? 0)));
        } while (!stopped);
        return { edits: times.length, slowestMs: Math.max(...times) };
      };
      const running = run();
      running.catch(() => {}); // told by `stop`
      return {
        stop: () => {
          stopped = true;
          return running;
        },
      };
    },
  };
}
