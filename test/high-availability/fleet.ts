import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AnyObject, Cluster } from "../control-plane/cluster.ts";
import { startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** The lease duration of leader election in seconds, from which the other durations follow. */
export interface Timings {
  readonly lease: number;
}

/** One of the replicas, kept as by a Deployment: a process that ends is started again. Each replica has a separate connection. */
export interface Replica {
  readonly name: string;
  readonly proxy: TcpProxy;
  /** The current process. */
  wave: WaveProcess;
}

/** Several replicas of Wave on one cluster, restricted to one namespace, which also contains their Lease. */
export interface Fleet {
  readonly replicas: readonly Replica[];
  /** Returns the holder of the Lease and its replica; undefined if the Lease has no holder or the process has ended. */
  readonly leader: () => Promise<Replica | undefined>;
  /** Waits for a leader that is not one of `others`. */
  readonly nextLeader: (others: readonly WaveProcess[], timeoutMs: number) => Promise<Replica>;
  /** Starts a new process for a replica whose process ended. */
  readonly replace: (replica: Replica) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts `size` replicas and resolves when all are ready. */
export async function startFleet(o: {
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly size: number;
  readonly timings: Timings;
  /** More flags of `wave run`. */
  readonly flags?: readonly string[];
}): Promise<Fleet> {
  const { cluster, namespace, size, timings } = o;
  const folder = mkdtempSync(join(tmpdir(), "wave-fleet-"));
  const text = readFileSync(cluster.kubeconfig, "utf8");
  const server = text.match(/server: "?(https:[^"},\s]+)/)?.[1] ?? "";
  const flags = [
    `--namespaces=${namespace}`,
    "--leader-election",
    `--leader-election-namespace=${namespace}`,
    `--leader-election-lease-duration=${timings.lease}s`,
    "--update-rate=unlimited",
    "--log-format=json",
    ...(o.flags ?? []),
  ];
  const start = (name: string) => startWave(["--kubeconfig", join(folder, name), ...flags]);

  const replicas: Replica[] = [];
  for (const name of Array.from({ length: size }, (_, index) => `replica-${index}`)) {
    const proxy = await startTcpProxy(new URL(server));
    writeFileSync(join(folder, name), text.replace(server, `https://127.0.0.1:${proxy.port}`));
    replicas.push({ name, proxy, wave: await start(name) });
  }

  const leader = async () => {
    const lease = await cluster.api<AnyObject & { spec?: { holderIdentity?: string } }>(
      "GET",
      `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/wave`,
    );
    const holder = lease.spec?.holderIdentity;
    if (!holder) return undefined;
    return replicas.find(({ wave }) => wave.log().split("\n").some(saysItLeads(holder)));
  };

  return {
    replicas,
    leader,
    nextLeader: (others, timeoutMs) =>
      until(
        "another replica to lead",
        async () => {
          const found = await leader();
          return found === undefined || others.includes(found.wave) ? undefined : found;
        },
        timeoutMs,
      ),
    replace: async (replica) => {
      replica.wave = await start(replica.name);
    },
    close: async () => {
      await Promise.all(replicas.map(({ wave }) => wave.stop("SIGKILL")));
      for (const { proxy } of replicas) proxy.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function saysItLeads(holder: string): (line: string) => boolean {
  return (line) => line.includes('"this replica leads"') && line.includes(holder);
}
