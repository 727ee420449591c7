import fc from "fast-check";
import { expect, it } from "vitest";
import { RevertedWrites } from "./reverted-writes.ts";

const [minute, hour] = [60_000, 3_600_000];

/** Writes an object for this long while each write is reverted at once. Returns the number of writes, and the writes that were reported. */
function quarrel(lastsMs: number, changes: readonly string[] = ["a"]) {
  const reverted = new RevertedWrites();
  let [writes, now] = [0, 0];
  const reported: number[] = [];
  while (now < lastsMs) {
    writes++;
    if (reverted.wrote("x", changes, now)) reported.push(writes);
    now += Math.max(1, reverted.waitMs("x", changes, now));
  }
  return { writes, reported };
}

it("a write that is reverted repeatedly is repeated with growing delays and reported once", () => {
  expect(quarrel(minute).writes).toBeLessThanOrEqual(7);
  expect(quarrel(hour).writes).toBeLessThanOrEqual(20);
  expect(quarrel(24 * hour)).toEqual({ writes: expect.toSatisfy((writes: number) => writes < 160), reported: [5] });
});

it("a write that contains a reverted change also waits", () => {
  const reverted = new RevertedWrites();
  reverted.wrote("x", ["a"], 0);
  expect(reverted.waitMs("x", ["a", "b"], 0)).toBeGreaterThan(0);
});

it("a write that a deletion waits for never waits long", () => {
  const reverted = new RevertedWrites();
  for (let times = 0; times < 100; times++) reverted.wrote("x", ["a"], 0);
  expect(reverted.waitMs("x", ["a"], 0)).toBeGreaterThan(minute);
  expect(reverted.waitMs("x", ["a"], 0, true)).toBeLessThanOrEqual(5_000);
});

it("a change that was not written before does not wait, regardless of the number of writes", () => {
  const reverted = new RevertedWrites();
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), fc.string(), (all, key) => {
      const own = new RevertedWrites();
      return all.every((change) => own.waitMs(key, [change], 0) === 0 && !own.wrote(key, [change], 0));
    }),
  );
  reverted.wrote("x", ["a"], 0);
  expect(reverted.waitMs("y", ["a"], 0)).toBe(0);
});

it("occasional changes by a person cause no wait", () => {
  const reverted = new RevertedWrites();
  for (let at = 0; at < 24 * hour; at += 30 * minute) {
    expect(reverted.waitMs("x", ["a"], at)).toBe(0);
    expect(reverted.wrote("x", ["a"], at)).toBe(false);
  }
});

it("the number of remembered writes is limited", () => {
  const reverted = new RevertedWrites();
  for (let index = 0; index < 20_001; index++) reverted.wrote(`${index}`, ["a"], 0);
  expect(reverted.waitMs("0", ["a"], 0)).toBe(0);
  expect(reverted.waitMs("20000", ["a"], 0)).toBeGreaterThan(0);
});
