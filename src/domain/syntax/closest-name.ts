import { editDistance } from "./edit-distance.ts";

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
