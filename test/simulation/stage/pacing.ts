import { isOlderThan } from "../kept-seeds.ts";
import type { Pacing } from "../record.ts";
import type { Random } from "./random.ts";

/** The pacing flags of Wave in a run, and the wall-clock time of the run. */
export interface PacedTime {
  /** Undefined: nothing is delayed. */
  readonly pacing: Pacing | undefined;
  /** Milliseconds since the epoch. */
  readonly epoch: number;
}

const usual = Date.UTC(2026, 0, 1);

/** Times shortly before events that a calendar must handle: midnight, and both clock changes in Berlin. */
const beforeTurns = [
  usual,
  Date.UTC(2026, 0, 6, 23, 58, 30),
  Date.UTC(2026, 0, 6, 22, 58, 30),
  Date.UTC(2026, 2, 29, 0, 58, 30),
  Date.UTC(2026, 9, 25, 0, 58, 30),
];

/** The defaults of `wave run`. */
const defaults: Pacing = {
  settleMs: 1_000,
  maxConcurrent: 50,
  soakMs: 10_000,
  haltAfterFailures: 3,
  rolloutTimeoutMs: 600_000,
  observe: false,
  window: undefined,
};

/** Half of all runs have no pacing, so that no delay hides the effect of a mistake; a tenth has the defaults. */
export function choosePacing(random: Random): PacedTime {
  if (random.chance(0.5)) return { pacing: undefined, epoch: usual };
  const epoch = random.pick(beforeTurns);
  if (random.chance(0.2)) return { pacing: defaults, epoch };
  const settleMs = random.pick([0, 200, 1_000, 3_000]);
  // Two settings are gone. Kept seeds still draw them, so that their other choices stay.
  random.pick([1, 3, 10]);
  const maxConcurrent = random.pick([0, 1, 2, 50]);
  random.pick([1, 1, 1, 2]);
  const pacing: Pacing = {
    settleMs,
    maxConcurrent,
    soakMs: random.pick([0, 1_000, 10_000]),
    haltAfterFailures: random.pick([0, 1, 2, 3]),
    rolloutTimeoutMs: random.pick([5_000, 20_000, 60_000]),
    observe: random.chance(0.04),
    window: random.chance(0.08) ? "Mon-Sun 00:00-23:59 Europe/Berlin; Tue 23:00-01:00" : undefined,
  };
  return { pacing, epoch };
}

/** Whether some Deployments are validators: in half of the runs with pacing, but in no older run that is kept. */
export function chooseValidators(random: Random, seed: number): boolean {
  return random.chance(0.5) && !isOlderThan(seed, "validators");
}

/** Whether some workloads are broken from the start: in half of the runs with pacing, but in no older run that is kept. */
export function chooseBroken(random: Random, seed: number): boolean {
  return random.chance(0.5) && !isOlderThan(seed, "pins and broken workloads");
}
