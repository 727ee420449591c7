import fc from "fast-check";
import { expect, it } from "vitest";
import { parse } from "yaml";
import {
  canRewrite,
  hasColors,
  paintOf,
  programForms,
  programText,
  tableLines,
  wrapped,
  wrappedBehind,
} from "./table.ts";

const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 30 });

it("fills each line up to its width and keeps every word", () => {
  fc.assert(
    fc.property(words, fc.integer({ min: 12, max: 60 }), (all, width) => {
      const lines = wrapped(all.join(" "), width);
      expect(lines.join(" ")).toBe(all.join(" "));
      for (const [at, line] of lines.entries()) {
        expect(line.length).toBeLessThanOrEqual(width);
        const [next = ""] = (lines[at + 1] ?? "").split(" ");
        if (next !== "") expect(line.length + 1 + next.length).toBeGreaterThan(width);
      }
    }),
  );
});

it("keeps one line without a width, and gives a word that is too long its own line", () => {
  expect(wrapped("a ".repeat(200), undefined)).toEqual(["a ".repeat(200)]);
  expect(wrapped("a https://example.test/a/very/long/path b", 10)).toEqual([
    "a",
    "https://example.test/a/very/long/path",
    "b",
  ]);
});

it("continues below the start of the text, also in the narrowest terminal", () => {
  expect(wrappedBehind("Why   ", "one two three four five six", 30)).toEqual([
    "Why   one two three four five",
    "      six",
  ]);
  expect(wrappedBehind("Why   ", "one two three four five six", 3)).toEqual([
    "Why   one two three four five",
    "      six",
  ]);
});

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

/** Names of objects in a pod spec, with characters that control a terminal. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom("\u009b31m", "\u202e", "\u200b", "\u2028", "\u{e0041}", "\u001b[2J", '"', "\\", "'", "\n", ": #"),
      fc.string(),
    ),
  )
  .map((parts) => parts.join("").toWellFormed());

it("escapes control characters in values and names, and programs read the original text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...programForms), text, async (form, name) => {
      const value = { name, list: [{ name }], [`x${name}`]: 1 };
      const written = await programText(value, form);
      expect(written.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(parse(written)).toEqual(value);
    }),
  );
});
