import { describe, expect, it } from "vitest";
import { cutTo, liveLines, widthOf } from "./live-lines.ts";
import { paintOf } from "./table.ts";

/** A terminal that understands what a live terminal writes: it wraps, scrolls and moves its cursor. */
function fakeTerminal(columns: number, rows: number) {
  const screen = { columns, rows };
  let lines: string[] = [];
  const draw = liveLines({
    size: () => screen,
    rewrite: (lastLines, text) => {
      lines = lines.slice(0, lines.length - lastLines);
      for (const line of text.split("\n").slice(0, -1))
        for (let at = 0; at === 0 || at < line.length; at += screen.columns)
          lines.push(line.slice(at, at + screen.columns));
    },
  });
  const resize = (narrower: number) => {
    screen.columns = narrower;
    lines = lines.flatMap((line) => line.match(new RegExp(`.{1,${narrower}}`, "g")) ?? [""]);
  };
  return { draw, resize, lines: () => lines };
}

describe("live lines", () => {
  it("replace those before them, also if there are fewer or more", () => {
    const { draw, lines } = fakeTerminal(80, 24);
    for (const each of [["a", "b"], ["c"], ["d", "e", "f"], []]) {
      draw(each);
      expect(lines()).toEqual(each);
    }
  });

  it("are cut to the columns and the rows of the terminal", () => {
    const { draw, lines } = fakeTerminal(10, 4);
    draw(["1234567890", "12345678901", "c", "d", "e"]);
    expect(lines()).toEqual(["1234567890", "123456789…", "c"]);
    draw(["x"]);
    expect(lines()).toEqual(["x"]);
  });

  it("leave nothing behind if the terminal becomes narrower", () => {
    const { draw, resize, lines } = fakeTerminal(20, 24);
    draw(["x".repeat(20), "short"]);
    resize(8);
    draw(["new"]);
    expect(lines()).toEqual(["new"]);
  });
});

describe("a cut line", () => {
  it("ends each color, and counts wide characters twice", () => {
    const paint = paintOf(true);
    const line = `${paint("red", "failed")} ${paint("green", "complete")}`;
    expect(widthOf(line)).toBe(15);
    const cut = cutTo(line, 10);
    expect(widthOf(cut)).toBe(10);
    expect(cut).toBe(`${paint("red", "failed")} ${paint("green", "co…")}`);
    expect(cutTo("設定設定", 5)).toBe("設定…");
    expect(cutTo("設定設定", 8)).toBe("設定設定");
  });
});
