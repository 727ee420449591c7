/** Choices from one stream of random numbers. */
export interface Dice {
  /** Returns true with this probability, from 0 to 1. */
  readonly chance: (probability: number) => boolean;
  /** Returns a whole number from `from` to `to`, both included. */
  readonly between: (from: number, to: number) => number;
  /** Returns one of these; undefined if there are none. */
  readonly oneOf: <T>(items: readonly T[]) => T | undefined;
  /** Returns one of a list that is not empty. */
  readonly pick: <T>(...items: readonly [T, ...T[]]) => T;
  /** Returns one row, with a probability in proportion to its weight; undefined if no row has a weight. */
  readonly weighted: <T>(rows: readonly T[], weight: (row: T) => number) => T | undefined;
}

/** Returns dice that use the numbers of `random`, in [0, 1). */
export function createDice(random: () => number): Dice {
  const between = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  const oneOf = <T>(items: readonly T[]) => items[between(0, items.length - 1)];
  return {
    chance: (probability) => random() < probability,
    between,
    oneOf,
    pick: (first, ...others) => oneOf([first, ...others]) ?? first,
    weighted: (rows, weight) => {
      let left = random() * rows.reduce((sum, row) => sum + weight(row), 0);
      return rows.find((row) => {
        left -= weight(row);
        return left < 0;
      });
    },
  };
}

/** Returns a generator of numbers in [0, 1) from a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
