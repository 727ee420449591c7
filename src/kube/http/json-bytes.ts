/** Scans JSON as bytes, to skip parts without parsing them. */

/** The byte `"`, which begins and ends a string. */
export const quote = 0x22;
const backslash = 0x5c;
/** The byte `,` between members of an object or items of a list. */
export const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Reports whether the byte at `end` of a string is escaped. `from` is the first available byte, which may be escaped itself. */
export function isEscaped(json: Buffer, from: number, end: number, fromIsEscaped = false): boolean {
  let first = end;
  while (first > from && json[first - 1] === backslash) first--;
  const odd = (end - first) % 2 === 1;
  return first === from ? odd !== fromIsEscaped : odd;
}

/** Positions in a JSON object. */
interface ObjectBounds {
  /** The closing brace. */
  readonly end: number;
  /** The comma after the requested number of members; undefined if there are not more members. */
  readonly comma: number | undefined;
}

/** Returns the bounds of the object that begins at `begin`; undefined if it has no end. */
export function objectBounds(json: Buffer, begin: number, members: number): ObjectBounds | undefined {
  let depth = 0;
  let commas = 0;
  let found: number | undefined;
  for (let at = begin; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      at = endOfString(json, at + 1);
      if (at === -1) return undefined;
    } else if (byte === comma) {
      if (depth === 1 && ++commas === members) found = at;
    } else if (byte === openBrace || byte === openBracket) depth++;
    else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return { end: at, comma: found };
  }
  return undefined;
}

/** Returns the position of the closing quotation mark of a string whose first character is at `begin`; -1 if there is none. */
export function endOfString(json: Buffer, begin: number): number {
  let from = begin;
  for (;;) {
    const end = json.indexOf(quote, from);
    if (end === -1 || !isEscaped(json, from, end)) return end;
    from = end + 1;
  }
}
