import { expect, it } from "vitest";
import { changedLines } from "./diff-revision.ts";

it.each([
  ["a\nb\nc", "a\nx\nc", ["b"], ["x"]],
  ["a\nb\nc", "a\nc", ["b"], []],
  ["a\nc", "a\nb\nc", [], ["b"]],
  ["a\na", "a\na\na", [], ["a"]],
  ["a", "a\n", [], [""]],
  ["a\nb\nc\nd", "x\nb\nc\ny", ["a", "b", "c", "d"], ["x", "b", "c", "y"]],
  ["", "", [], []],
  [null, "a\nb", [], ["a", "b"]],
  ["a", null, ["a"], []],
  ["same", "same", [], []],
])("the lines that differ between %j and %j are %j and %j", (before, after, removed, added) => {
  expect(changedLines(before, after)).toEqual({ removed, added });
});
