/** A mistake in how a command was called: one line for a person, no stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Text from outside as a message shows it: quoted, on one line, cut where it is long. */
export function quoted(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 79)}…` : text;
  return JSON.stringify(short.toWellFormed()).replace(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
