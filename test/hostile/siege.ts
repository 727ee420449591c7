import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { type AnyObject, type Cluster, connect } from "../control-plane/cluster.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { freePort, startWave, until, type WaveProcess } from "../control-plane/wave-process.ts";
import { waitedMs } from "../support/processor-time.ts";
import { makeTenant, type Tenant } from "./tenant.ts";
import { makeVictim, type Seen, type Victim } from "./victim.ts";

/** A cluster with Wave as installed by default, a team that needs Wave, and a team that attacks it. */
export interface Siege {
  readonly cluster: Cluster;
  readonly wave: WaveProcess;
  /** The port of 127.0.0.1 on which Wave serves admission, if enabled. */
  readonly webhookPort: number;
  readonly victim: Victim;
  readonly tenant: Tenant;
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/** The result of an attack. */
export interface Outcome extends Seen {
  /** The maximum resident memory during the attack, in MiB. */
  readonly resident: number;
  /** The slowest answer of /readyz in milliseconds, without the time that Wave and the test waited for a processor. */
  readonly slowestProbeMs: number;
  /** The number of times that another process became the leader. */
  readonly changesOfLeader: number;
}

/**
 * Starts everything before the tests of a file, on a separate control plane, and ends it after them. Wave serves all
 * namespaces with exactly the flags of the chart. The webhook has a URL, because Services do not exist here.
 */
export function besieged({ webhooks = false } = {}): () => Siege {
  let plane: ControlPlane | undefined;
  let siege: Siege | undefined;
  beforeAll(async () => {
    plane = await startControlPlane();
    const cluster = connect(plane);
    // As in the chart: a process that must create the Lease leads only after 15 s.
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

/** Attacks while the victim edits, for the duration of `attack`, and returns the result. */
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
 * Expects that the victim was served as on any day. The bounds are far above normal (some 20 ms), because a busy machine,
 * also under the API server, is not caused by the tenant. They are far below what an attack must not reach.
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

/** Resets the maximum, which the kernel records. */
function peakResident({ process: { pid } }: WaveProcess): () => number {
  // "5" resets the maximum to the present value: https://docs.kernel.org/filesystems/proc.html
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Returns how long Wave and this test have waited for a processor. */
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
