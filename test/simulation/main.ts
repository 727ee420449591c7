import { once } from "node:events";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { holdReasons } from "../../src/domain/pacing/holds.ts";
import { workloadMetrics } from "../../src/telemetry/catalogue/workloads.ts";
import { simulate } from "./stage/run.ts";

const usage = `npm run simulate -- [--seeds N | --minutes N] [--from N] [--first] [--seed N [--trace]]

  --seeds N   plays N seeds (default 100), from --from on (default: anywhere), and names those that fail;
              --first ends at the first of them
  --minutes N plays seeds for N minutes instead
  --seed N    plays one; --trace tells everything that happened in it
`;

const { values } = parseArgs({
  options: {
    seeds: { type: "string" },
    minutes: { type: "string" },
    from: { type: "string" },
    seed: { type: "string" },
    first: { type: "boolean" },
    trace: { type: "boolean" },
    help: { type: "boolean" },
  },
});

/** The result of one seed, as a thread sends it. */
interface Played {
  readonly seed: number;
  readonly violations: readonly string[];
  /** See {@link Outcome.reached}. */
  readonly reached: readonly string[];
  /** The processor time of the thread for the seed, in seconds. */
  readonly work: number;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function sayViolations(seed: number, violations: readonly string[]): void {
  say([`seed ${seed}: ${violations.length} violations`, ...violations.map((each) => `  ${each}`)].join("\n"));
}

/** Plays one seed in this thread, with a line for everything that happens if `--trace` is given. */
async function playOne(seed: number): Promise<void> {
  const { violations, events, recording } = await simulate(seed, values.trace ? say : undefined);
  if (values.trace) say(`${events} events, ${recording.history.length} writes`);
  sayViolations(seed, violations);
  if (violations.length > 0) process.exitCode = 1;
}

/** Plays many seeds, one at a time on each processor. */
async function playMany(): Promise<void> {
  const seeds = Number(values.seeds ?? (values.minutes === undefined ? 100 : Number.POSITIVE_INFINITY));
  const from = Number(values.from ?? Math.floor(Math.random() * 2 ** 31));
  const begun = performance.now();
  const end = begun + 60_000 * Number(values.minutes ?? Number.POSITIVE_INFINITY);
  const reached = new Set<string>();
  let [started, failed, work] = [0, 0, 0];
  const playOnThread = async () => {
    const thread = new Worker(new URL(import.meta.url));
    while (started < seeds && performance.now() < end && !(values.first && failed > 0)) {
      thread.postMessage(from + started++);
      const [played]: Played[] = await once(thread, "message");
      if (played === undefined) continue;
      for (const each of played.reached) reached.add(each);
      work += played.work;
      if (played.violations.length === 0) continue;
      failed++;
      sayViolations(played.seed, played.violations);
    }
    await thread.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(seeds, availableParallelism()) }, playOnThread));
  const seconds = (performance.now() - begun) / 1000;
  const each = ((1000 * work) / started).toFixed(0);
  say(`${started} seeds from ${from}: ${failed} failed; ${seconds.toFixed(1)} s, ${each} ms of processor time each`);
  sayReached(reached);
  if (failed > 0) process.exitCode = 1;
}

/** Prints which outcomes and holds the seeds have reached, and which not. */
function sayReached(reached: ReadonlySet<string>): void {
  const rows = {
    outcome: ["ignore", "current", ...Object.keys(workloadMetrics.outcomes.labels.outcome)],
    hold: holdReasons,
  };
  for (const [what, all] of Object.entries(rows)) {
    const missed = all.filter((each) => !reached.has(`${what} ${each}`));
    const rest = missed.length === 0 ? "" : `; not reached: ${missed.join(", ")}`;
    say(`${what}s reached: ${all.length - missed.length} of ${all.length}${rest}`);
  }
}

if (!isMainThread) {
  parentPort?.on("message", async (seed: number) => {
    const before = process.threadCpuUsage();
    const { violations, reached } = await simulate(seed);
    const { user, system } = process.threadCpuUsage(before);
    const played: Played = { seed, violations, reached: [...reached], work: (user + system) / 1e6 };
    parentPort?.postMessage(played);
  });
} else if (values.help) say(usage);
else if (values.seed !== undefined) await playOne(Number(values.seed));
else await playMany();
