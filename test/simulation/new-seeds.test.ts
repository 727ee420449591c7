import { expect, it } from "vitest";
import { failureOf } from "./played.ts";

/** So long it goes on after the least number of seeds, in milliseconds: all of `npm test` is to end in some minutes. */
const budgetMs = 100_000;
const atLeast = 200;

it("whole replicas do nothing wrong in seeds that nobody has played before", { timeout: 900_000 }, async () => {
  const first = Math.floor(Math.random() * 2 ** 31);
  const end = performance.now() + budgetMs;
  for (let seed = first; seed < first + atLeast || performance.now() < end; seed++) {
    expect(await failureOf(seed)).toBeUndefined();
  }
});
