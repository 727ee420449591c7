import { parseArgs } from "node:util";
import { simulate } from "./stage/run.ts";

const usage = `npm run simulate -- [--seeds N] [--from N] [--first] [--seed N [--trace]]

  --seeds N   plays N seeds (default 100), from --from on (default: anywhere), and names those that fail;
              --first ends at the first of them
  --seed N    plays one; --trace tells everything that happened in it
`;

const { values } = parseArgs({
  options: {
    seeds: { type: "string" },
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

async function play(seed: number, trace: boolean): Promise<boolean> {
  const { violations, events, recording } = await simulate(seed, trace ? say : undefined);
  if (trace) say(`${events} events, ${recording.history.length} writes`);
  if (violations.length === 0) return true;
  say([`seed ${seed}: ${violations.length} violations`, ...violations.map((each) => `  ${each}`)].join("\n"));
  return false;
}

if (values.help) say(usage);
else if (values.seed !== undefined) {
  if (!(await play(Number(values.seed), values.trace ?? false))) process.exitCode = 1;
} else {
  const seeds = Number(values.seeds ?? 100);
  const from = Number(values.from ?? Math.floor(Math.random() * 2 ** 31));
  const begun = performance.now();
  let failed = 0;
  let played = 0;
  for (; played < seeds && !(values.first && failed > 0); played++) {
    if (!(await play(from + played, false))) failed++;
  }
  const seconds = (performance.now() - begun) / 1000;
  const each = ((1000 * seconds) / played).toFixed(0);
  say(`${played} seeds from ${from}: ${failed} failed; ${seconds.toFixed(1)} s, ${each} ms each`);
  if (failed > 0) process.exitCode = 1;
}
