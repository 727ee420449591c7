import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import { loadNamePatterns, readNamePattern } from "./stakater-directives.ts";

await loadNamePatterns({ understood: ["stakater"] });

const matches = (source: string, name: string) => {
  const pattern = readNamePattern(source);
  if (pattern.state === "invalid") throw new Error(pattern.reason);
  return pattern.matches(name);
};

describe("a regular expression over names", () => {
  it.each([
    ["app-.*", ["app-", "app-1"], ["app", "my-app-1"]],
    ["a|b", ["a", "b"], ["ab", ""]],
    ["^app(-v[0-9]+)?$", ["app", "app-v12"], ["app-v", "app-vx"]],
    ["app.config", ["app.config", "app-config"], ["appconfig"]],
    ["app\\.config", ["app.config"], ["app-config"]],
    ["[^a-f]{2,3}", ["xy", "xyz"], ["x", "xya", "wxyz"]],
    ["(?i)APP-[A-C]", ["app-a"], ["app-d"]],
    ["(?i:A)B?", ["a"], ["ab"]],
    ["(?P<name>x)\\d\\w", ["x1a"], ["xaa"]],
    ["[[:alpha:]]+[\\d.-]", ["ab-", "a.", "a1"], ["1.", "aa"]],
    ["(a*)*", ["", "aaaa"], ["b"]],
    ["(|a)+", ["", "aa"], ["b"]],
    ["a{0}", [""], ["a"]],
    ["a{2,}?", ["aa", "aaa"], ["a"]],
    ["a{,2}", [], ["aa"]],
    ["\\Aa\\z", ["a"], ["b"]],
    ["[]-]x", ["-x"], ["x"]],
    ["(a|b$)c", ["ac"], ["bc"]],
    ["\\x61", ["a"], ["x61"]],
  ])("%s matches whole names only", (source, those, others) => {
    expect(those.filter((name) => !matches(source, name))).toEqual([]);
    expect(others.filter((name) => matches(source, name))).toEqual([]);
  });

  it.each([
    ["(", "missing closing )"],
    [")", "unexpected )"],
    ["a**", "invalid nested repetition operator"],
    ["*a", "missing argument to repetition operator"],
    ["[a", "missing closing ]"],
    ["a{3,2}", "invalid repeat count"],
    ["(?=a)", "invalid or unsupported Perl syntax"],
    ["(?<!a)", "invalid named capture"],
    ["\\1", "invalid escape sequence"],
    ["\\pL", "invalid escape sequence"],
    ["a\\", "trailing backslash at end of expression"],
    ["[z-a]", "invalid character class range"],
    ["[[:no:]]", "invalid character class range"],
    ["(?i)[a-\\x{10FFFF}]", "only ASCII characters are supported"],
    ["(?i)[a-\u{10ffff}]", "only ASCII characters are supported"],
    ["istio-system/app", "no object can have such a name"],
    ["one\ntwo", "no object can have such a name"],
    ["App", "no object can have such a name"],
    ["-.", "no object can have such a name"],
    ["(a{100}){100}", "too large"],
    ["(((a{9}){9}){9}){9}", "too large"],
    ["(a?){999}", "too large"],
    ["a{300}", "too large"],
    ["a{1001}", "too large"],
    [`${"(".repeat(60)}${"){1000}".repeat(30)}${")".repeat(30)}`, "too large"],
  ])("%s is invalid", (source, reason) => expect(readNamePattern(source)).toEqual({ state: "invalid", reason }));

  it.each([
    "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
    "([0-9]{1,3}\\.){3}[0-9]{1,3}",
    "(app|web)-v[0-9]{1,2}(-canary){0,1}",
    "a.b",
  ])("%s is not too large", (source) => expect(readNamePattern(source).state).toBe("read"));

  it("is read in any form, or is invalid with a reason", () => {
    const signs = fc.constantFrom(..."ab()[]{}*+?|^$\\.-,:<>=!PQEpLxsiU029\u00e9 ");
    fc.assert(
      fc.property(fc.string({ unit: signs, maxLength: 40 }), (source) => {
        expect(readNamePattern(source)).toMatchObject(
          readNamePattern(source).state === "read" ? { size: expect.any(Number) } : { reason: expect.any(String) },
        );
      }),
      { numRuns: inject("everything") ? 3_000 : 1_000 },
    );
  });

  it("matches the same names as JavaScript", () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      ".",
      "[ab]",
      "[^a]",
      "(a|b)",
      "(?:ab)?",
      "a*",
      "(b+a)*",
      "a{1,3}",
      "-",
      "|",
    );
    const source = fc.array(piece, { maxLength: 8 }).map((pieces) => `(${pieces.join("")})`);
    const name = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 10 });
    fc.assert(
      fc.property(source, name, (text, of) => {
        expect(matches(text, of)).toBe(new RegExp(`^(?:${text})$`).test(of));
      }),
      { numRuns: inject("everything") ? 2000 : 700 },
    );
  });

  it("matches the same names as JavaScript if the engine may not store all of its states", () => {
    const source = "[ab]*a[ab]{14}";
    const name = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 14, maxLength: 80 });
    const script = new RegExp(`^(?:${source})$`);
    fc.assert(
      fc.property(name, (of) => {
        expect(matches(source, of)).toBe(script.test(of));
      }),
      { numRuns: 300 },
    );
  });

  it("takes time in proportion to its steps times the characters of the name", () => {
    const name = fc.sample(fc.string({ unit: fc.constantFrom("a", "b"), minLength: 253, maxLength: 253 }), 1).join("");
    for (const source of [
      `${"(a|a)*".repeat(30)}c`,
      "[ab]*a[ab]{60}c",
      "(.*a.*b){20}c",
      "((|a|b)*(|a|b)*a(|a|b)){10}c",
    ])
      expect(matches(source, name)).toBe(false);
  });
});
