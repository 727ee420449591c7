import { describe, expect, it } from "vitest";
import { readLabelSelector, selects } from "./label-selector.ts";

const labels = { team: "a", "example.com/tier": "web", empty: "" };

describe("a label selector", () => {
  it.each([
    ["", true],
    ["team=a", true],
    ["team==a", true],
    ["team = b", false],
    ["other=a", false],
    ["team!=a", false],
    ["team!=b", true],
    ["other!=b", true],
    ["team in (b, a)", true],
    ["team in (b)", false],
    ["other in (a)", false],
    ["team notin (a,b)", false],
    ["other notin (a)", true],
    ["team", true],
    ["other", false],
    ["!other", true],
    ["!team", false],
    ["empty=", true],
    ["example.com/tier=web,team in (a,b),!other", true],
    ["example.com/tier=web,team in (b,c),!other", false],
    // Reloader's own forms
    ["team:a", true],
    ["team:b", false],
    ["team:*", true],
    ["other:*", false],
    ["example.com/tier=*", true],
    // what every object of JavaScript has is no label
    ["constructor", false],
    ["!toString", true],
  ])("%j selects as Kubernetes does: %s", (text, selected) => {
    const selector = readLabelSelector(text);
    expect(selector && selects(selector, labels)).toBe(selected);
    expect(selects([], undefined)).toBe(true);
  });

  it.each([
    "team=a b",
    "team in a",
    "team in (a",
    "=a",
    "team=a,,other",
    ",",
    "a/b/c=d",
    "-team=a",
    "team=a_",
    "team!=*",
    "team >1",
    `team=${"a".repeat(64)}`,
    "Example.com/team=a",
  ])("rejects %j", (text) => {
    expect(readLabelSelector(text)).toBeUndefined();
  });
});
