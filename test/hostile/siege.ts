import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { type AnyObject, type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { freePort, startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { waitedMs } from "../support/processor-time.ts";
import { makeTenant, type Tenant } from "./tenant.ts";
import { makeVictim, type Seen, type Victim } from "./victim.ts";

/** A cluster with a Wave as it is installed by default, a team that needs it, and a team that attacks it. */
export interface Siege {
  readonly cluster: Cluster;
  readonly wave: WaveProcess;
  /** Where Wave serves admission on 127.0.0.1, if it does. */
  readonly webhookPort: number;
  readonly victim: Victim;
  readonly tenant: Tenant;
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/** What came of an attack. */
export interface Outcome extends Seen {
  /** The most that was resident meanwhile, in MiB. */
  readonly resident: number;
  /** The slowest answer of /readyz, in milliseconds, without what the machine made Wave and the test wait. */
  readonly slowestProbeMs: number;
  /** How often another process began to lead. */
  readonly changesOfLeader: number;
}

/**
 * Starts all of it before the tests of a file, on a control plane of its own, and ends it after them. Wave serves all
 * namespaces with the flags that the chart gives it and no others; a webhook is reached by a URL, for want of Services.
 */
export function besieged({ webhooks = false } = {}): () => Siege {
  let plane: ControlPlane | undefined;
  let siege: Siege | undefined;
  beforeAll(async () => {
    plane = await startControlPlane();
    const cluster = connect(plane);
    // As the chart has it; whoever must create it leads after 15 s only.
    await cluster.api("POST", leases, { metadata: { name: "wave" } });
    const webhookPort = await freePort();
    const address = `127.0.0.1:${webhookPort}`;
    const wave = await startWave([
      `--kubeconfig=${plane.kubeconfig}`,
      "--leader-election",
      "--leader-election-namespace=default",
      ...(webhooks
        ? ["--enable-webhooks", `--webhook-bind-address=${address}`, `--webhook-url=https://${address}`]
        : []),
    ]);
    const victim = await makeVictim(cluster, "victim", () => machineMs(wave));
    const tenant = await makeTenant(cluster, "tenant");
    siege = { cluster, wave, webhookPort, victim, tenant };
  });
  afterAll(async () => {
    await siege?.wave.stop("SIGKILL");
    siege?.tenant.cluster.close();
    siege?.cluster.close();
    await plane?.stop();
  });
  return () => {
    if (siege === undefined) throw new Error("the siege has not begun");
    return siege;
  };
}

/** Attacks while the victim edits, for as long as `attack` takes, and tells what came of it. */
export async function during(siege: Siege, attack: () => Promise<unknown>): Promise<Outcome> {
  const { wave, victim, cluster } = siege;
  const before = await leaseTransitions(cluster);
  const resident = peakResident(wave);
  const probes = watchProbes(wave);
  const editing = victim.edit();
  try {
    await attack();
  } finally {
    probes.stop();
  }
  const seen = await editing.stop();
  return {
    ...seen,
    resident: resident(),
    slowestProbeMs: await probes.slowestMs,
    changesOfLeader: (await leaseTransitions(cluster)) - before,
  };
}

/**
 * The victim was served as on any day: bounds are far above that (some 20 ms) because a busy machine, also under the API
 * server, is none of the tenant's doing, and far below what a neighbour must not be able to do.
 */
export function expectPeace(outcome: Outcome): void {
  expect(outcome.edits).toBeGreaterThan(0);
  expect(outcome.slowestMs, "from the victim's edit to its rollout").toBeLessThan(5_000);
  expect(outcome.resident, "MiB resident").toBeLessThan(115);
  expect(outcome.slowestProbeMs, "the slowest probe").toBeLessThan(1_000);
  expect(outcome.changesOfLeader, "changes of leader").toBe(0);
}

async function leaseTransitions(cluster: Cluster): Promise<number> {
  const { spec } = await cluster.api<AnyObject & { spec?: { leaseTransitions?: number } }>("GET", `${leases}/wave`);
  return spec?.leaseTransitions ?? 0;
}

/** From now on; the kernel keeps count. */
function peakResident({ process: { pid } }: WaveProcess): () => number {
  // "5" makes the peak the present value: https://docs.kernel.org/filesystems/proc.html
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** How long Wave and this test have waited for a processor. */
function machineMs({ process: { pid = 0 } }: WaveProcess): number {
  return waitedMs(pid) + waitedMs("thread-self");
}

function watchProbes(wave: WaveProcess): { readonly stop: () => void; readonly slowestMs: Promise<number> } {
  let stopped = false;
  const run = async () => {
    let slowest = 0;
    while (!stopped) {
      const from = performance.now() - machineMs(wave);
      await until("a probe to be answered", async () => (await wave.readyz()) && true);
      slowest = Math.max(slowest, performance.now() - machineMs(wave) - from);
      await sleep(100);
    }
    return slowest;
  };
  return {
    stop: () => {
      stopped = true;
    },
    slowestMs: run(),
  };
}
