import { expect, it } from "vitest";
import { setLatest } from "./latest-entries.ts";

it("keeps the entries that were set last, and returns the one that it removes", () => {
  const map = new Map<string, number>();
  const set = (key: string, value: number) => setLatest(map, key, value, 2);
  expect([set("a", 1), set("b", 2), set("a", 3), set("b", 4)]).toEqual([undefined, undefined, undefined, undefined]);
  expect(set("c", 5)).toEqual(["a", 3]);
  expect([...map]).toEqual([
    ["b", 4],
    ["c", 5],
  ]);
});
