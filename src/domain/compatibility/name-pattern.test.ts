import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readNamePattern } from "./name-pattern.ts";

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
    "(",
    ")",
    "a**",
    "*a",
    "[a",
    "a{1001}",
    "a{3,2}",
    "(?=a)",
    "(?<!a)",
    "\\1",
    "\\pL",
    "a\\",
    "[z-a]",
    "[[:no:]]",
  ])("%s is invalid", (source) => expect(readNamePattern(source).state).toBe("invalid"));

  it.each([
    [
      "can match",
      true,
      ["app", "a.b", "a-.*", "^a$", "a|/", ".", ".*-x", "x(-|y)", "(a|)b", "[.a]b", "(^|a/)b", "a$|b"],
    ],
    [
      "cannot match",
      false,
      [
        "istio-system/app",
        "one\ntwo",
        "App",
        "a b",
        "",
        "()",
        "-.",
        "a-",
        "-a",
        "a\\.\\.b",
        "a\\.-b",
        "a$b",
        "a^b",
        "\\s",
        "[^\\S]",
        "a{0}",
      ],
    ],
  ])("%s the name of an object", (_, expected, sources) => {
    for (const source of sources)
      expect([source, readNamePattern(source)]).toMatchObject([source, { canMatch: expected }]);
  });

  it.each(["(a{100}){100}", "(((a{9}){9}){9}){9}", "(a?){999}"])("%s is too large", (source) => {
    expect(readNamePattern(source)).toEqual({ state: "invalid", reason: "too large" });
  });

  it("is read quickly if it nests repetitions of nothing", () => {
    expect(matches(`${"(".repeat(60)}${"){1000}".repeat(30)}${")".repeat(30)}`, "")).toBe(true);
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
    const source = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
    const name = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 10 });
    fc.assert(
      fc.property(source, name, (text, of) => {
        expect(matches(text, of)).toBe(new RegExp(`^(?:${text})$`).test(of));
      }),
      { numRuns: 2000 },
    );
  });

  it("takes at most its length times the length of the name", () => {
    expect(matches(`${"(a|a)*".repeat(30)}c`, "a".repeat(253))).toBe(false);
  });
});
