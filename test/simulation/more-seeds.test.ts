import { expect, it } from "vitest";
import { playedSeed } from "../support/played-seed.ts";
import { keptSeeds } from "./kept-seeds.ts";
import { failureOf, quick } from "./played.ts";

// Seeds that `npm test` leaves out. `.ci/run` plays them if a change can affect them.
const times = (count: number, from: number) => Array.from({ length: count }, (_, i) => from + i);

it.each(keptSeeds.filter(({ isQuick }) => !isQuick))("replay seed $seed: $name", async ({ seed }) => {
  expect(await failureOf(seed)).toBeUndefined();
});

it.each([...times(10, 1 + quick.first), ...times(9, playedSeed() + quick.fresh)])(
  "whole replicas make no mistake in seed %i",
  async (seed) => {
    expect(await failureOf(seed)).toBeUndefined();
  },
);
