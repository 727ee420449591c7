/** The lines that differ between two texts. */
export interface ChangedLines {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Returns the lines between the first and the last difference. Takes time in proportion to the texts. Null is no text. */
export function changedLines(before: string | null, after: string | null): ChangedLines {
  const [old, current] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, current.length);
  let start = 0;
  while (start < shorter && old[start] === current[start]) start++;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === current[current.length - 1 - end]) end++;
  return { removed: old.slice(start, old.length - end), added: current.slice(start, current.length - end) };
}

/** A final line feed begins one more line, so that a text with it differs from one without it. */
function linesOf(text: string | null): readonly string[] {
  return text === null ? [] : text.split("\n");
}
