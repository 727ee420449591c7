import fc from "fast-check";
import { RE2JS } from "re2js";
import { expect, it } from "vitest";
import { readNamePattern } from "./name-pattern.ts";

const letter = fc.constantFrom(..."abc09-.");

const atom = fc.oneof(
  { weight: 4, arbitrary: letter.map((sign) => (sign === "." ? "\\." : sign)) },
  fc.constantFrom(".", "^", "$", "\\d", "\\w", "\\W", "[a-c]", "[^a]", "[[:alpha:]]", "[-.]", "\\b", "A", "(?i:B)"),
);

const expression = fc.letrec<{ any: string; sequence: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    tie("sequence"),
    fc.tuple(tie("any"), tie("any")).map(([a, b]) => `${a}|${b}`),
  ),
  sequence: fc
    .array(
      fc
        .tuple(
          fc.oneof(
            { maxDepth: 3 },
            atom,
            tie("any").map((of) => `(${of})`),
            tie("any").map((of) => `(?:${of})`),
          ),
          fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"),
        )
        .map(([of, times]) => (/^[\^$]|^\\b/.test(of) ? of : of + times)),
      { maxLength: 4 },
    )
    .map((parts) => parts.join("")),
})).any;

const name = fc.array(letter, { maxLength: 12 }).map((signs) => signs.join(""));

it("matches the same names as RE2, for every expression that it reads", () => {
  let compared = 0;
  fc.assert(
    fc.property(expression, fc.array(name, { minLength: 1, maxLength: 8 }), (source, names) => {
      const pattern = readNamePattern(source);
      if (pattern.state === "invalid") return;
      compared += 1;
      const oracle = RE2JS.compile(source);
      for (const each of names) {
        expect([each, pattern.matches(each)]).toEqual([each, oracle.matcher(each).matches()]);
      }
    }),
    { numRuns: 3_000 },
  );
  // Too many refusals would prove nothing.
  expect(compared).toBeGreaterThan(1_500);
});
