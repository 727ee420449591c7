/** The candidate that is fewest edits away from what was typed; undefined where none is near enough to be meant. */
export function nearest(typed: string, candidates: readonly string[]): string | undefined {
  if (typed.length > 60) return undefined;
  let best: string | undefined;
  let fewest = Math.max(2, Math.floor(typed.length / 3)) + 1;
  for (const candidate of candidates) {
    const edits = distance(typed, candidate);
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}

/** Levenshtein's: insertions, deletions and replacements that make `b` of `a`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
  }
  return row[b.length] ?? 0;
}
