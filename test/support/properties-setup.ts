import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { playedSeed } from "./played-seed.ts";

// By default fast-check chooses another seed in each run. A failure prints its seed: set WAVE_SEED to repeat the run.
const { testPath = "" } = expect.getState();
if (readFileSync(testPath, "utf8").includes('from "fast-check"')) {
  const { default: fc } = await import("fast-check");
  fc.configureGlobal({ seed: playedSeed() });
}
