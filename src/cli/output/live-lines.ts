/** A terminal whose last lines can be replaced. */
export interface LiveTerminal {
  /** Returns the size, which a person may change at any time. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Writes a text in place of the last lines. */
  readonly rewrite: (lastLines: number, text: string) => void;
}

/** The sequences of colors, which have no width. */
const sequenceStart = "\u001b";
const color = new RegExp(`${sequenceStart}\\[[0-9;]*m`, "g");

/**
 * Returns a function that writes lines in place of the lines that it wrote last. Lines are cut to the columns of the terminal, and lines that do not
 * fit on the screen are left out: the cursor cannot go back to lines that have scrolled away.
 */
export function liveLines({ size, rewrite }: LiveTerminal): (lines: readonly string[]) => void {
  let drawn: readonly number[] = [];
  return (lines) => {
    const { columns, rows } = size();
    const shown = lines.slice(0, Math.max(1, rows - 1)).map((line) => cutTo(line, columns));
    // A terminal that became narrower has wrapped the lines.
    const before = drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    rewrite(Math.min(before, rows - 1), shown.map((line) => `${line}\n`).join(""));
    drawn = shown.map(widthOf);
  };
}

/** Returns the columns that a line takes. Wide characters, as of Chinese or emoji, take two. */
export function widthOf(line: string): number {
  let width = 0;
  for (const character of line.replace(color, "")) width += columnsOf(character);
  return width;
}

/** Returns a line in at most these columns, with "…" for what is cut off. All colors stay, because each one ends. */
export function cutTo(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let left = columns - 1;
  let isCut = false;
  // The parts at odd indexes are colors.
  return line
    .split(new RegExp(`(${color.source})`))
    .map((part, index) => {
      if (index % 2 === 1 || isCut) return index % 2 === 1 ? part : "";
      let kept = "";
      for (const character of part) {
        left -= columnsOf(character);
        if (left < 0) {
          isCut = true;
          return `${kept}…`;
        }
        kept += character;
      }
      return kept;
    })
    .join("");
}

/** Characters of East Asia, and emoji (https://www.unicode.org/reports/tr11/). */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

function columnsOf(character: string): number {
  return wide.test(character) ? 2 : 1;
}
