import fc from "fast-check";
import { expect, it } from "vitest";
import { wrapped, wrappedBehind } from "./wrap.ts";

const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 30 });

it("no line is wider than it may be, none could take the next word, and no word is lost", () => {
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

it("without a width there is one line, and a word wider than a line has its own", () => {
  expect(wrapped("a ".repeat(200), undefined)).toEqual(["a ".repeat(200)]);
  expect(wrapped("a https://example.test/a/very/long/path b", 10)).toEqual([
    "a",
    "https://example.test/a/very/long/path",
    "b",
  ]);
});

it("goes on below where it began, in the narrowest terminal, too", () => {
  expect(wrappedBehind("Why   ", "one two three four five six", 30)).toEqual([
    "Why   one two three four five",
    "      six",
  ]);
  expect(wrappedBehind("Why   ", "one two three four five six", 3)).toEqual([
    "Why   one two three four five",
    "      six",
  ]);
});
