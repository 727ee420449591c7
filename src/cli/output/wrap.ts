/** A blank at which lines do not break. */
export const unbreakable = "\u00a0";

/**
 * Returns a text in lines of at most `width` columns, broken at blanks. A longer word has its own line. With an undefined width
 * the text is one line, for pipes.
 */
export function wrapped(text: string, width: number | undefined): readonly string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of width === undefined ? [text] : text.split(" ")) {
    if (line !== undefined && line.length + 1 + word.length > (width ?? 0)) {
      lines.push(line);
      line = word;
    } else line = line === undefined ? word : `${line} ${word}`;
  }
  return [...lines, line ?? ""].map((each) => each.replaceAll(unbreakable, " "));
}

/** Returns a text wrapped behind a head. The lines after the first one begin at column `indent`. */
export function wrappedBehind(
  head: string,
  text: string,
  width: number | undefined,
  indent = head.length,
): readonly string[] {
  const [first = "", ...rest] = wrapped(
    text,
    width === undefined ? undefined : Math.max(minWidth, width - Math.max(head.length, indent)),
  );
  return [head + first, ...rest.map((line) => " ".repeat(indent) + line)];
}

/** Minimum columns of a text. In a narrower terminal the lines are too long, because one word per line is not readable. */
const minWidth = 24;
