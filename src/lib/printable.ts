/** A line that no terminal takes for a command, and that shows all that it holds: a pod spec may name an object by any characters. */
export function printable(line: string): string {
  return line
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
