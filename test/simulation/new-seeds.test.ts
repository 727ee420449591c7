import { expect, inject, it } from "vitest";
import { playedSeed } from "../support/played-seed.ts";
import { failureOf, quick } from "./played.ts";

const seeds = inject("everything") ? 250 : quick.fresh;

it("whole replicas make no mistake in seeds that are new for this state of the code", {
  timeout: 3_600_000,
}, async () => {
  const first = playedSeed();
  for (let seed = first; seed < first + seeds; seed++) expect(await failureOf(seed)).toBeUndefined();
});
