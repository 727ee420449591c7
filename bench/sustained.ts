import { resourcePath, resources } from "../src/kube/api/resources.ts";
import { connect } from "../test/control-plane/cluster.ts";
import { startWave, until, type WaveProcess } from "../test/control-plane/wave-process.ts";
import { storedIn } from "../test/faults/stored.ts";
import { judgeEnd } from "../test/simulation/judge-end.ts";
import { memoryOf } from "./memory.ts";
import { createDeployment, type Plane, startPlane, times } from "./plane.ts";
import { closedAsTooSlow, sum } from "./scraped.ts";

/** How large a cluster is. Every tenth Secret is read, by one workload. */
export interface Size {
  readonly secrets: number;
  readonly workloads: number;
}

/** A minute of edits of Secrets at random. Memory in MiB, of Wave's whole process. */
export interface SustainedFigures extends Size {
  /** What the API server took; 500 were asked for. */
  readonly editsPerSecond: number;
  /** Writes of workloads by Wave. */
  readonly rolls: number;
  /** From the last edit until Wave wrote no more. */
  readonly settledSeconds: number;
  /** Workloads that then did not carry the hash of what is stored, computed afresh. */
  readonly wrong: number;
  /** Resident before the first edit, after half of them, and after the last. */
  readonly resident: readonly [number, number, number];
  /** The most since the start of the process, when the cluster was listed and each new workload got its first hash. */
  readonly peak: number;
  /** Watches that the API server closed because their reader was too slow: its own count. */
  readonly closed: number;
  /** Watches that Wave had to begin again. */
  readonly restarts: number;
  /** The longest time that anything waited for Wave's event loop. */
  readonly delayMs: number;
  /** Processor time that Wave took, of one core. */
  readonly cpuShare: number;
}

const namespaces = Array.from({ length: 10 }, (_, index) => `load-${index}`);
/** Ten Secrets in a row share a namespace: every tenth has a workload, and so each namespace has some. */
const namespaceOf = (index: number) => namespaces[Math.floor(index / 10) % namespaces.length] ?? "";
const perSecond = 500;

/** Grows one cluster through the sizes; at each a Wave of its own sees edits for so long. */
export async function measureSustained(
  sizes: readonly Size[],
  seconds: number,
  say: (figures: SustainedFigures) => void,
): Promise<readonly SustainedFigures[]> {
  const plane = await startPlane(namespaces);
  const figures: SustainedFigures[] = [];
  let [secrets, workloads] = [0, 0];
  try {
    for (const size of sizes) {
      const [firstSecret, firstWorkload] = [secrets, workloads];
      ({ secrets, workloads } = size);
      await times(secrets - firstSecret, 32, (index) => createSecret(plane, firstSecret + index));
      await times(workloads - firstWorkload, 32, (index) => createWorkload(plane, firstWorkload + index));
      const one = await measureAt(plane, size, seconds);
      figures.push(one);
      say(one);
    }
    return figures;
  } finally {
    await plane.stop();
  }
}

async function measureAt(plane: Plane, size: Size, seconds: number): Promise<SustainedFigures> {
  const wave = await startWave([`--kubeconfig=${plane.jsonKubeconfig}`, "--update-rate=unlimited", "--log-level=warn"]);
  try {
    await quiet(wave);
    const memory = () => memoryOf(wave.process.pid ?? 0);
    const [before, closedBefore] = [await wave.metrics(), await closedAsTooSlow(plane)];
    const residentBefore = memory().resident;
    const edited = await editFor(plane, size.secrets, seconds / 2);
    const residentHalfway = memory().resident;
    const begin = performance.now();
    const editedThen = await editFor(plane, size.secrets, seconds / 2);
    const [end, residentAfter, after] = [performance.now(), memory().resident, await wave.metrics()];
    const quietAt = await quiet(wave);
    const settled = await wave.metrics();
    const cpuSeconds = sum(after, "process_cpu_seconds_total") - sum(before, "process_cpu_seconds_total");
    return {
      ...size,
      editsPerSecond: (edited + editedThen) / (seconds / 2 + (end - begin) / 1000),
      rolls: rolls(settled) - rolls(before),
      settledSeconds: Math.max(0, quietAt - end) / 1000,
      wrong: await wrongWorkloads(plane),
      resident: [residentBefore, residentHalfway, residentAfter],
      peak: memory().peak,
      closed: (await closedAsTooSlow(plane)) - closedBefore,
      restarts: sum(settled, "wave_watch_restarts_total") - sum(before, "wave_watch_restarts_total"),
      delayMs: sum(after, "wave_event_loop_delay_seconds") * 1000,
      cpuShare: cpuSeconds / seconds,
    };
  } finally {
    await wave.stop();
  }
}

function createSecret({ client }: Plane, index: number): Promise<unknown> {
  const path = resourcePath(resources.secrets, { namespace: namespaceOf(index) });
  const data = { value: base64("0"), blob: base64("x".repeat(1024)) };
  return client.request({ method: "POST", path, body: { metadata: { name: `secret-${index}` }, data } });
}

async function createWorkload({ client }: Plane, index: number): Promise<void> {
  const secret = index * 10;
  const namespace = namespaceOf(secret);
  await createDeployment(client, namespace, `app-${index}`, { secret: `secret-${secret}` });
}

/** As many a second as are asked for, at most 64 at once; resolves with how many were answered. */
async function editFor({ client }: Plane, secrets: number, seconds: number): Promise<number> {
  const begin = performance.now();
  const under = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let sent = 0;
  const edit = async () => {
    const index = Math.floor(Math.random() * secrets);
    const path = `${resourcePath(resources.secrets, { namespace: namespaceOf(index) })}/secret-${index}`;
    await client.request({ method: "PATCH", path, body: { data: { value: base64(String(Math.random())) } } });
  };
  for (let passed = 0; passed < seconds * 1000; passed = performance.now() - begin) {
    while (sent < (passed / 1000) * perSecond && under.size < 64) {
      sent++;
      const one: Promise<void> = edit()
        .catch((error) => void failures.push(error))
        .finally(() => under.delete(one));
      under.add(one);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await Promise.all(under);
  if (failures.length > 0) throw new Error(`${failures.length} edits failed`, { cause: failures[0] });
  return sent;
}

/**
 * Resolves when Wave has written nothing for 2 s and no workload waits to be written, with the time of its last work. On a
 * busy machine, the API server answers nothing for longer than that.
 */
async function quiet(wave: WaveProcess): Promise<number> {
  let last = { rolls: -1, at: 0 };
  await until(
    "Wave to be quiet",
    async () => {
      const metrics = await wave.metrics();
      const now = { rolls: rolls(metrics), at: performance.now() };
      if (now.rolls !== last.rolls || waiting(metrics) > 0) last = now;
      return now.at - last.at > 2_000 ? true : undefined;
    },
    300_000,
  );
  return last.at;
}

function waiting(metrics: string): number {
  const due = sum(metrics, "wave_workloads", 'state="due"');
  return due + sum(metrics, "wave_queue_depth") + sum(metrics, "wave_write_permits_waiting");
}

function rolls(metrics: string): number {
  return (
    sum(metrics, "wave_outcomes_total", 'outcome="roll"') + sum(metrics, "wave_outcomes_total", 'outcome="firstHash"')
  );
}

async function wrongWorkloads(plane: Plane): Promise<number> {
  const cluster = connect(plane);
  const stored = storedIn(cluster, namespaces);
  await stored.look();
  cluster.close();
  const { history } = stored;
  return judgeEnd({ history, settings, rightAt: [Number.POSITIVE_INFINITY], unlisted: undefined }).length;
}

const settings = {
  webhooks: false,
  schedulingHold: true,
  crossNamespace: "granted",
  namespaces: undefined,
  updateRate: 0,
  updateBurst: 0,
  syncPeriodMs: 0,
  pacing: undefined,
} as const;

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
