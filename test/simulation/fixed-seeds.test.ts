import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { keptSeeds } from "./kept-seeds.ts";
import { failureOf } from "./played.ts";
import { simulate } from "./stage/run.ts";

describe("whole replicas in virtual time", () => {
  it.each(keptSeeds)("play seed $seed again: $name", { timeout: 60_000 }, async ({ seed }) => {
    expect(await failureOf(seed)).toBeUndefined();
  });

  it("play the same seed the same way, step for step", { timeout: 60_000 }, async () => {
    const digestOf = async (seed: number) => {
      const digest = createHash("sha256");
      const { events } = await simulate(seed, (line) => digest.update(line));
      return { events, digest: digest.digest("hex") };
    };
    for (const seed of [3, 1003, 2003]) expect(await digestOf(seed)).toEqual(await digestOf(seed));
    expect(await digestOf(1)).not.toEqual(await digestOf(2));
  });

  it("do nothing wrong in the seeds 1 to 300", { timeout: 900_000 }, async () => {
    for (let seed = 1; seed <= 300; seed++) expect(await failureOf(seed)).toBeUndefined();
  });
});
