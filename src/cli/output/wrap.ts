/** No blank at which a line is broken. */
export const unbreakable = "\u00a0";

/**
 * A text in lines of at most `width` columns, broken at blanks; a word that is longer has a line of its own. Undefined is no
 * width: whatever reads it from a pipe finds it in one line.
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

/** The same behind a head; what follows the first line begins below column `indent`. */
export function wrappedBehind(
  head: string,
  text: string,
  width: number | undefined,
  indent = head.length,
): readonly string[] {
  const [first = "", ...rest] = wrapped(
    text,
    width === undefined ? undefined : Math.max(leastWidth, width - Math.max(head.length, indent)),
  );
  return [head + first, ...rest.map((line) => " ".repeat(indent) + line)];
}

/** In a narrower terminal lines are as wide all the same: one word a line helps nobody. */
const leastWidth = 24;
