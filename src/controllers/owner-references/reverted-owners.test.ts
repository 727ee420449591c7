import fc from "fast-check";
import { expect, it } from "vitest";
import { Undone } from "./reverted-owners.ts";

const [minute, hour] = [60_000, 3_600_000];

/** How often it is written within so long where each write is undone at once, and the moments at which that is told. */
function quarrel(lastsMs: number, changes: readonly string[] = ["a"]) {
  const undone = new Undone();
  let [writes, now] = [0, 0];
  const told: number[] = [];
  while (now < lastsMs) {
    writes++;
    if (undone.wrote("x", changes, now)) told.push(writes);
    now += Math.max(1, undone.waitMs("x", changes, now));
  }
  return { writes, told };
}

it("what is undone again and again is written less and less often, and told of once", () => {
  expect(quarrel(minute).writes).toBeLessThanOrEqual(7);
  expect(quarrel(hour).writes).toBeLessThanOrEqual(20);
  expect(quarrel(24 * hour)).toEqual({ writes: expect.toSatisfy((writes: number) => writes < 160), told: [5] });
});

it("who writes with others what was undone waits as well", () => {
  const undone = new Undone();
  undone.wrote("x", ["a"], 0);
  expect(undone.waitMs("x", ["a", "b"], 0)).toBeGreaterThan(0);
});

it("what a deletion waits for never waits long", () => {
  const undone = new Undone();
  for (let times = 0; times < 100; times++) undone.wrote("x", ["a"], 0);
  expect(undone.waitMs("x", ["a"], 0)).toBeGreaterThan(minute);
  expect(undone.waitMs("x", ["a"], 0, true)).toBeLessThanOrEqual(5_000);
});

it("nothing waits that was not written before, however much is written", () => {
  const undone = new Undone();
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), fc.string(), (all, key) => {
      const own = new Undone();
      return all.every((change) => own.waitMs(key, [change], 0) === 0 && !own.wrote(key, [change], 0));
    }),
  );
  undone.wrote("x", ["a"], 0);
  expect(undone.waitMs("y", ["a"], 0)).toBe(0);
});

it("a person who changes their mind now and then waits for nothing", () => {
  const undone = new Undone();
  for (let at = 0; at < 24 * hour; at += 30 * minute) {
    expect(undone.waitMs("x", ["a"], at)).toBe(0);
    expect(undone.wrote("x", ["a"], at)).toBe(false);
  }
});

it("what is remembered has an end, whatever is written", () => {
  const undone = new Undone();
  for (let index = 0; index < 20_001; index++) undone.wrote(`${index}`, ["a"], 0);
  expect(undone.waitMs("0", ["a"], 0)).toBe(0);
  expect(undone.waitMs("20000", ["a"], 0)).toBeGreaterThan(0);
});
