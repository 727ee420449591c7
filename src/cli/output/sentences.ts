/**
 * Joins texts to sentences on one line: each starts with a capital letter and ends with a full stop. Empty texts are left out. A name such
 * as `deployment/web` keeps its small letter.
 */
export function sentences(...texts: readonly string[]): string {
  return texts
    .filter((text) => text !== "")
    .map(asSentence)
    .join(" ");
}

function asSentence(text: string): string {
  const start = /^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(start) ? start : `${start}.`;
}
