import { expect, it } from "vitest";
import { boundedMemo } from "./shared-values.ts";

it("computes once for each of the last texts, even if the result is undefined, and drops the least recently used entry", () => {
  const computed: string[] = [];
  const answer = boundedMemo(2, (text) => {
    computed.push(text);
    return text === "none" ? undefined : text.length;
  });
  expect([answer("a"), answer("none"), answer("a"), answer("none")]).toEqual([1, undefined, 1, undefined]);
  expect(computed).toEqual(["a", "none"]);
  answer("b");
  answer("none");
  expect(computed).toEqual(["a", "none", "b"]);
  answer("a");
  expect(computed).toEqual(["a", "none", "b", "a"]);
});
