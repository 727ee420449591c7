import { setTimeout as sleep } from "node:timers/promises";
import { reads } from "../admission/admitted.ts";
import type { Cluster } from "../control-plane/cluster.ts";
import { makeNamespace, type Namespace, workload } from "../end-to-end/objects.ts";
import { newHash, recordedHash } from "../end-to-end/state.ts";

/** What a team saw of Wave while it edited its ConfigMap every second. */
export interface Seen {
  readonly edits: number;
  /** The maximum time from an edit to its new hash in milliseconds, without the time that Wave and the test waited for a processor. */
  readonly slowestMs: number;
}

/** A team that shares only the cluster with the attacker. */
export interface Victim {
  readonly namespace: Namespace;
  /** Edits every second from now on. `stop` resolves when the last edit is rolled, and rejects if any edit is not. */
  readonly edit: () => { readonly stop: () => Promise<Seen> };
}

/**
 * Creates the namespace of the team, with a Deployment that reads a ConfigMap and already has its hash. `waited` returns how long Wave and
 * the test have waited for a processor.
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
      running.catch(() => {}); // `stop` reports the error
      return {
        stop: () => {
          stopped = true;
          return running;
        },
      };
    },
  };
}
