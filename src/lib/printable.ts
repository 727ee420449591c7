/** Escapes control and invisible characters, so that a terminal cannot execute them: a pod spec may contain any characters. */
export function printable(line: string): string {
  return line.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

/**
 * Escapes the same characters in everything that a process prints, except line feeds, tabs and colors. Callers escape the texts of others with
 * {@link printable}. This is the last guard, for a text that a caller forgot.
 */
export function printableOutput(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found, offset: number) => {
    const isColor = found === "\u001b" && /^\[[0-9;]*m/.test(text.slice(offset + 1, offset + longestColor));
    return found === "\n" || found === "\t" || isColor ? found : escaped(found);
  });
}

/** The longest sequence of a color, in characters. */
const longestColor = 20;

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Returns a character as JSON escapes it, one escape for each UTF-16 unit. */
export function jsonEscape(character: string): string {
  const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}
