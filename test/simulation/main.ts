import { parseArgs } from "node:util";
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

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The outcomes and holds that seeds have reached. */
const reachedBySeeds = new Set<string>();

async function play(seed: number, trace: boolean): Promise<boolean> {
  const { violations, events, recording, reached } = await simulate(seed, trace ? say : undefined);
  for (const each of reached) reachedBySeeds.add(each);
  if (trace) say(`${events} events, ${recording.history.length} writes`);
  if (violations.length === 0) return true;
  say([`seed ${seed}: ${violations.length} violations`, ...violations.map((each) => `  ${each}`)].join("\n"));
  return false;
}

/** Prints which outcomes and holds the seeds have reached, and which not. */
function sayReached(): void {
  const rows = {
    outcome: ["ignore", "current", ...Object.keys(workloadMetrics.outcomes.labels.outcome)],
    hold: Object.keys(workloadMetrics.held.labels.reason),
  };
  for (const [what, all] of Object.entries(rows)) {
    const missed = all.filter((each) => !reachedBySeeds.has(`${what} ${each}`));
    const rest = missed.length === 0 ? "" : `; not reached: ${missed.join(", ")}`;
    say(`${what}s reached: ${all.length - missed.length} of ${all.length}${rest}`);
  }
}

if (values.help) say(usage);
else if (values.seed !== undefined) {
  if (!(await play(Number(values.seed), values.trace ?? false))) process.exitCode = 1;
} else {
  const seeds = Number(values.seeds ?? (values.minutes === undefined ? 100 : Number.POSITIVE_INFINITY));
  const from = Number(values.from ?? Math.floor(Math.random() * 2 ** 31));
  const begun = performance.now();
  const end = begun + 60_000 * Number(values.minutes ?? Number.POSITIVE_INFINITY);
  let failed = 0;
  let played = 0;
  for (; played < seeds && performance.now() < end && !(values.first && failed > 0); played++) {
    if (!(await play(from + played, false))) failed++;
  }
  const seconds = (performance.now() - begun) / 1000;
  const each = ((1000 * seconds) / played).toFixed(0);
  say(`${played} seeds from ${from}: ${failed} failed; ${seconds.toFixed(1)} s, ${each} ms each`);
  sayReached();
  if (failed > 0) process.exitCode = 1;
}
