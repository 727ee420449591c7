import { spawn } from "node:child_process";
import { join } from "node:path";
import { resourcePath, resources } from "../src/kube/api/resources.ts";
import { startWave, until, type WaveProcess } from "../test/control-plane/wave-process.ts";
import { createDeployment, type Plane, quantile, startPlane, times } from "./plane.ts";
import { watchHashes } from "./recorded-hashes.ts";
import { closedAsTooSlow, sum } from "./scraped.ts";

/** Many writes in a row, and whether reading kept up with them. */
export interface BurstFigures {
  readonly what: string;
  /** How many Deployments were written, each time. */
  readonly writes: number;
  /** How many times. The figures are sums over all of them, unless they say otherwise. */
  readonly times: number;
  /** The median. */
  readonly seconds: number;
  /** Watches that the API server closed because their reader was too slow: its own count. */
  readonly closed: number;
  /** Watches that Wave had to begin again. */
  readonly restarts: number;
  /** The longest time that anything waited for Wave's event loop. */
  readonly delayMs: number;
  /** Reads of single objects, and pages of lists, that Wave requested. */
  readonly reads: number;
  /** The processor time of Wave, in seconds. */
  readonly cpuSeconds: number;
}

const namespace = "burst";
const node = join(import.meta.dirname, "../bin/node");

/** How large a burst is. */
export interface Burst {
  readonly firstWrites: number;
  /** So many of them share a ConfigMap. */
  readonly readers: number;
  /** The size of each Deployment in addition to what it needs, in bytes. */
  readonly padding: number;
  /** How many times the shared ConfigMap is edited. */
  readonly edits: number;
  /** How many other processes keep a core busy each. */
  readonly busy: number;
}

/** First hashes for so many Deployments in a row, and then edits of a ConfigMap that many of them read. */
export async function measureBurst(burst: Burst): Promise<readonly BurstFigures[]> {
  const { firstWrites, readers, padding, edits, busy } = burst;
  const plane = await startPlane([namespace]);
  const { client } = plane;
  const others: ReturnType<typeof spawn>[] = [];
  try {
    const configMaps = resourcePath(resources.configMaps, { namespace });
    const create = (name: string) =>
      client.request({ method: "POST", path: configMaps, body: { metadata: { name }, data: { a: "0" } } });
    await create("all");
    await times(firstWrites, 32, async (index) => {
      if (index >= readers) await create(`own-${index}`);
      const configMap = index < readers ? "all" : `own-${index}`;
      await createDeployment(client, namespace, `app-${index}`, { configMap }, { replicas: 0, padding });
    });
    for (let each = 0; each < busy; each++) others.push(spawn(node, ["-e", "for (;;);"], { stdio: "ignore" }));
    const hashes = await watchHashes(client, namespace);
    const first = hashes.changed(firstWrites);
    const wave = await startWave([
      `--kubeconfig=${plane.jsonKubeconfig}`,
      "--update-rate=unlimited",
      "--log-level=warn",
    ]);
    const firstFigures = await during(plane, wave, "first writes", firstWrites, () => first, { fromStart: true });
    const edited: BurstFigures[] = [];
    for (let edit = 1; edit <= edits; edit++) {
      const fanOut = hashes.changed(readers);
      const figures = await during(plane, wave, "an edit", readers, async () => {
        await client.request({ method: "PATCH", path: `${configMaps}/all`, body: { data: { a: String(edit) } } });
        await fanOut;
      });
      edited.push(figures);
    }
    hashes.stop();
    await wave.stop();
    return [firstFigures, together(edited)];
  } finally {
    for (const other of others) other.kill("SIGKILL");
    await plane.stop();
  }
}

async function during(
  plane: Plane,
  wave: WaveProcess,
  what: string,
  writes: number,
  work: () => Promise<unknown>,
  { fromStart = false } = {},
): Promise<BurstFigures> {
  const closedBefore = await closedAsTooSlow(plane);
  const before = fromStart ? "" : await wave.metrics();
  const begin = performance.now();
  await work();
  const seconds = (performance.now() - begin) / 1000;
  // What follows a write, its Event and the watch's echo, is part of the burst.
  let quiet = await wave.metrics();
  const delays = [delayOf(quiet)];
  await until("Wave to be quiet", async () => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = await wave.metrics();
    delays.push(delayOf(now));
    const same = sum(now, "wave_api_requests_total") === sum(quiet, "wave_api_requests_total");
    quiet = now;
    return same ? true : undefined;
  });
  return {
    what,
    writes,
    times: 1,
    seconds,
    closed: (await closedAsTooSlow(plane)) - closedBefore,
    restarts: sum(quiet, "wave_watch_restarts_total") - sum(before, "wave_watch_restarts_total"),
    delayMs: Math.max(...delays) * 1000,
    reads: reads(quiet) - reads(before),
    cpuSeconds: sum(quiet, "process_cpu_seconds_total") - sum(before, "process_cpu_seconds_total"),
  };
}

function together(figures: readonly BurstFigures[]): BurstFigures {
  const [first] = figures;
  if (first === undefined) throw new Error("measure at least one edit");
  const total = (of: (each: BurstFigures) => number) => figures.reduce((all, each) => all + of(each), 0);
  return {
    ...first,
    times: figures.length,
    seconds: quantile(
      figures.map(({ seconds }) => seconds),
      0.5,
    ),
    closed: total(({ closed }) => closed),
    restarts: total(({ restarts }) => restarts),
    delayMs: Math.max(...figures.map(({ delayMs }) => delayMs)),
    reads: total(({ reads }) => reads),
    cpuSeconds: total(({ cpuSeconds }) => cpuSeconds),
  };
}

function reads(metrics: string): number {
  const of = (verb: string) => sum(metrics, "wave_api_requests_total", `verb="${verb}"`);
  return of("get") + of("list");
}

function delayOf(metrics: string): number {
  return sum(metrics, "wave_event_loop_delay_seconds");
}
