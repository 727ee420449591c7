import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { playedSeed } from "./played-seed.ts";

// fast-check would draw another seed in each run. A failure prints the one that it had: WAVE_SEED plays it again.
const { testPath = "" } = expect.getState();
if (readFileSync(testPath, "utf8").includes('from "fast-check"')) {
  const { default: fc } = await import("fast-check");
  fc.configureGlobal({ seed: playedSeed() });
}
