import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { freePort, startWave, type WaveProcess } from "../control-plane/wave-process.ts";
import { startTcpProxy, type TcpProxy } from "../high-availability/tcp-proxy.ts";
import type { BatchSettings } from "../simulation/record.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

/** A replica of Wave, and its path to the API server: its network, then the proxy that can answer in place of the API server. */
export interface Replica {
  readonly wave: WaveProcess;
  readonly network: TcpProxy;
  readonly proxy: FaultProxy;
}

/** Adds two replicas with leader election to `replicas`. If the world uses webhooks, the first replica serves them. */
export async function startReplicas(replicas: Replica[], plane: ControlPlane, settings: BatchSettings): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "wave-faults-"));
  const kubeconfig = readFileSync(plane.kubeconfig, "utf8");
  const server = kubeconfig.match(/server: "(https:[^"]+)"/)?.[1] ?? "";
  const certificates = join(dirname(plane.kubeconfig), "certificates");
  const [cert, key] = ["apiserver.crt", "apiserver.key"].map((name) =>
    readFileSync(join(certificates, name), "utf8"),
  ) as [string, string];
  for (const name of ["a", "b"]) {
    const proxy = await startFaultProxy({ server: new URL(server), ca: cert, cert, key });
    const network = await startTcpProxy(proxy.url);
    const file = join(folder, name);
    writeFileSync(file, kubeconfig.replace(server, `https://127.0.0.1:${network.port}`));
    const webhooks = settings.webhooks && name === "a" ? await webhookFlags() : [];
    replicas.push({
      proxy,
      network,
      wave: await startWave([`--kubeconfig=${file}`, ...flagsOf(settings), ...webhooks]),
    });
  }
  rmSync(folder, { recursive: true });
}

/** Ends the replicas. */
export async function stopReplicas(replicas: readonly Replica[]): Promise<void> {
  await Promise.all(replicas.map(({ wave }) => wave.stop("SIGKILL")));
  for (const { network, proxy } of replicas) {
    network.close();
    proxy.close();
  }
}

function flagsOf({ namespaces, crossNamespace, schedulingHold, updateRate, updateBurst }: BatchSettings) {
  return [
    ...(namespaces === undefined ? [] : [`--namespaces=${namespaces.join(",")}`]),
    `--cross-namespace=${crossNamespace}`,
    `--scheduling-hold=${schedulingHold}`,
    `--update-rate=${updateRate}`,
    `--update-burst=${updateBurst}`,
    // A resync must not find a change that a trigger missed.
    "--sync-period=0",
    "--leader-election",
    // A leader survives most faults, because the next leader plans everything again. Its Lease ends well before 10 s.
    "--leader-election-namespace=default",
    "--leader-election-lease-duration=7500ms",
    "--log-format=json",
  ];
}

async function webhookFlags(): Promise<readonly string[]> {
  const port = await freePort();
  return [
    "--enable-webhooks",
    `--webhook-bind-address=127.0.0.1:${port}`,
    `--webhook-url=https://127.0.0.1:${port}`,
    "--webhook-service-name=faults",
  ];
}
