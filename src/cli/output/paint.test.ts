import { expect, it } from "vitest";
import { canRewrite, hasColors, paintOf } from "./paint.ts";
import { tableLines } from "./table.ts";

it("uses colors only on a terminal that has them, unless NO_COLOR is set", () => {
  expect(hasColors({}, true)).toBe(true);
  expect(hasColors({ NO_COLOR: "", TERM: "xterm" }, true)).toBe(true);
  expect(hasColors({ NO_COLOR: "1" }, true)).toBe(false);
  expect(hasColors({ TERM: "dumb" }, true)).toBe(false);
  expect(hasColors({}, false)).toBe(false);
});

it("replaces lines only on a terminal with a cursor, and not in CI", () => {
  expect(canRewrite({}, true)).toBe(true);
  expect(canRewrite({ NO_COLOR: "1", TERM: "xterm" }, true)).toBe(true);
  expect(canRewrite({ TERM: "dumb" }, true)).toBe(false);
  expect(canRewrite({ CI: "true" }, true)).toBe(false);
  expect(canRewrite({}, false)).toBe(false);
});

it("paints a table without changing its width, and escapes colors in cells", () => {
  const rows = [
    ["NAME", "STATE", "X"],
    ["a\u001b[31m", "held", "-"],
    ["b", "current", ""],
  ];
  const paint = paintOf(true);
  const painted = tableLines(rows, 2, (text, row, column) => paint(row > 0 && column === 1 ? "red" : undefined, text));
  const bare = painted.map((line) =>
    line.replaceAll(`${String.fromCharCode(27)}[31m`, "").replaceAll(`${String.fromCharCode(27)}[39m`, ""),
  );
  expect(bare).toEqual(tableLines(rows, 2));
  expect(painted[1]).toBe(`a\\u{1b}[31m  ${paint("red", "held")}     -`);
});
