import { simulate } from "./stage/run.ts";

/** Returns one line for a person, with the command that prints the details; undefined if nothing is wrong. */
export async function failureOf(seed: number, write?: (line: string) => void): Promise<string | undefined> {
  const { violations } = await simulate(seed, write);
  if (violations.length === 0) return undefined;
  const told = violations.slice(0, 5).map((violation) => `\n  ${violation}`);
  return `seed ${seed} (npm run simulate -- --seed ${seed} --trace): ${violations.length} violations${told.join("")}`;
}

/** How many seeds `npm test` plays of the first ones, and of those that are new for this state of the code. */
export const quick = { first: 10, fresh: 3 } as const;
