/** Returns the candidate with the fewest edits to the typed word; undefined if no candidate is close enough or shares a letter. */
export function closestName(typed: string, candidates: readonly string[]): string | undefined {
  if (typed.length > 60) return undefined;
  let best: string | undefined;
  let fewest = Math.min(Math.max(2, Math.floor(typed.length / 3)) + 1, typed.length);
  for (const candidate of candidates) {
    const edits = editDistance(typed, candidate);
    if (edits < Math.min(fewest, candidate.length)) [best, fewest] = [candidate, edits];
  }
  return best;
}

/**
 * Returns the Levenshtein distance of two texts: how many letters must be added, removed or replaced. Takes time in
 * proportion to the product of their lengths.
 */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
