import fc from "fast-check";
import { expect, it } from "vitest";
import { wrapped, wrappedBehind } from "./wrap.ts";

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
