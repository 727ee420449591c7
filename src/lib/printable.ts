/** Escapes control and invisible characters, so that a terminal cannot execute them: a pod spec may contain any characters. */
export function printable(line: string): string {
  return line
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
