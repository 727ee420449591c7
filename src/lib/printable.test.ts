import { describe, expect, it } from "vitest";
import { printable, printableOutput } from "./printable.ts";

const controls = "\u001b[2J\u009b2J\u0007\r\u202e\u200b\u2028";
const escaped = "\\u{1b}[2J\\u{9b}2J\\u{7}\\u{d}\\u{202e}\\u{200b}\\u{2028}";

describe("a text of others", () => {
  it("is printed on one line, without a character that controls a terminal or hides text", () => {
    expect(printable(`a${controls}\n\tb`)).toBe(`a${escaped}\\u{a}\\u{9}b`);
  });
});

describe("the output of a process", () => {
  it("keeps its lines, tabs and colors, and no other control character", () => {
    const painted = "\u001b[1;31mred\u001b[39m";
    expect(printableOutput(`${painted}\ta${controls}\nb\n`)).toBe(`${painted}\ta${escaped}\nb\n`);
  });

  it("keeps characters outside of the basic plane", () => {
    expect(printableOutput("𝄞 \u{e0041}")).toBe("𝄞 \\u{e0041}");
  });
});
