import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the seed of every random choice in a test run, below 2^31. The seed differs for each state of the code and is the same for one
 * state: a failing change fails in every run, and no run fails by chance. `WAVE_SEED` overrides the seed with a number or with
 * `random`. Throws if the value is neither.
 */
export function playedSeed(asked = process.env.WAVE_SEED): number {
  if (asked === "random") return Math.floor(Math.random() * 2 ** 31);
  if (asked === undefined) return seedOfCode();
  const seed = Number(asked);
  if (/^\d+$/.test(asked) && seed < 2 ** 31) return seed;
  throw new Error(`WAVE_SEED=${asked}: give a number from 0 to 2147483647, or "random"`);
}

function seedOfCode(): number {
  const sum = createHash("sha256");
  const root = join(import.meta.dirname, "../..");
  for (const file of globSync("{src,sandbox,test/simulation}/**/*.ts", { cwd: root }).sort()) {
    sum.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return sum.digest().readUInt32BE() >>> 1;
}
