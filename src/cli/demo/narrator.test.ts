import { describe, expect, it } from "vitest";
import { createNarrator, describeChange, shortHash } from "./narrator.ts";

function written(color: boolean): string {
  let text = "";
  const narrator = createNarrator((part) => {
    text += part;
  }, color);
  narrator.step(1, "An edit");
  narrator.command("kubectl edit configmap web", "another page");
  narrator.seen("hash", describeChange("v2:1", "v2:2"), "soon");
  narrator.why("because");
  narrator.paragraph("The end");
  return text;
}

describe("a narrator", () => {
  it("writes plain lines without colours", () => {
    expect(written(false)).toBe(
      [
        "1. An edit",
        "   $ kubectl edit configmap web   # another page",
        "   hash        v2:1 → v2:2   soon",
        "   because",
        "The end",
        "",
        "",
      ].join("\n"),
    );
  });

  it("writes the same text with colours", () => {
    const esc = String.fromCharCode(27);
    const plain = written(true).replaceAll(new RegExp(`${esc}\\[\\d+m`, "g"), "");
    expect(written(true)).toContain(`${esc}[1m1. An edit${esc}[22m`);
    expect(plain).toBe(written(false));
  });

  it("marks an unchanged value", () => {
    expect(describeChange("a", "a")).toBe("a (unchanged)");
  });

  it("shortens a hash to its tag and 8 digits", () => {
    expect(shortHash(`v2:0123456789${"a".repeat(54)}`)).toBe("v2:01234567");
  });
});
