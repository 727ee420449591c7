import type { Cluster } from "../control-plane/cluster.ts";
import { until } from "../control-plane/wave-process.ts";
import { container, type Namespace, workload, workloadKinds, workloadPath } from "../end-to-end/objects.ts";
import { hashInForce, type WorkloadState } from "../end-to-end/state.ts";

/** One workload and the ConfigMap of the same name that it reads. */
export interface Edited {
  readonly kind: (typeof workloadKinds)[number]["kind"];
  readonly name: string;
  /** The name of the workload in the audit log: "resource/name". */
  readonly target: string;
  edits: number;
  /** Every observed hash of the workload, in order. */
  readonly hashes: string[];
  /** True if the ConfigMap was edited and the workload still has its previous hash. */
  pending: boolean;
}

/** An editor that changes configuration all the time, each ConfigMap again as soon as its last edit was rolled. */
export interface Editor {
  readonly edited: readonly Edited[];
  /** Edits until `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Resolves when every edit is rolled. Rejects after `timeoutMs` with the names of the other workloads. */
  readonly settled: (timeoutMs: number) => Promise<void>;
}

/** Creates `each` workloads of every kind, each with a ConfigMap. */
export async function makeEditor(
  cluster: Cluster,
  namespace: Namespace,
  each: number,
  random: () => number,
): Promise<Editor> {
  const edited: Edited[] = [];
  for (const { kind, plural } of workloadKinds) {
    for (let index = 0; index < each; index++) {
      const name = `${kind.toLowerCase()}-${index}`;
      await namespace.configMap(name, { edit: "0" });
      const podSpec = { containers: [{ ...container, envFrom: [{ configMapRef: { name } }] }] };
      await namespace.create(workload(name, podSpec, { kind, ...(kind !== "DaemonSet" && { spec: { replicas: 1 } }) }));
      edited.push({ kind, name, target: `${plural}/${name}`, edits: 0, hashes: [], pending: true });
    }
  }

  const look = async () => {
    for (const { kind } of workloadKinds) {
      for (const object of (await cluster.list(workloadPath(namespace.name, kind))) as readonly WorkloadState[]) {
        const row = edited.find(({ name }) => name === object.metadata.name);
        const hash = hashInForce(object.metadata, object.spec.template.metadata);
        if (row === undefined || hash === undefined || row.hashes.at(-1) === hash) continue;
        row.hashes.push(hash);
        row.pending = false;
      }
    }
  };

  return {
    edited,
    run: async (signal) => {
      while (!signal.aborted) {
        await look();
        const free = edited.filter(({ pending }) => !pending);
        const row = free[Math.floor(random() * free.length)];
        if (row !== undefined) {
          row.pending = true;
          row.edits++;
          await namespace.edit("ConfigMap", row.name, { edit: String(row.edits) });
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    settled: async (timeoutMs) => {
      await until(
        "every edit to be rolled",
        async () => {
          await look();
          const open = edited.filter(({ pending }) => pending).map(({ target }) => target);
          if (open.length > 0) throw new Error(`not rolled: ${open.join(", ")}`);
          return true;
        },
        timeoutMs,
      );
    },
  };
}
