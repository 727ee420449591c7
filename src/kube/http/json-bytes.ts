/** JSON as bytes, for what is to be skipped rather than parsed. */

/** `"`. */
export const quote = 0x22;
const backslash = 0x5c;
/** `,`. */
export const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Whether the byte at `end` is escaped, inside of a string of which `from` is read first, itself escaped or not. */
export function isEscaped(json: Buffer, from: number, end: number, fromIsEscaped = false): boolean {
  let first = end;
  while (first > from && json[first - 1] === backslash) first--;
  const odd = (end - first) % 2 === 1;
  return first === from ? odd !== fromIsEscaped : odd;
}

/** Where parts of an object are. */
export interface ObjectBounds {
  /** Its last brace. */
  readonly end: number;
  /** The comma after so many members as were asked for; undefined where there are no more. */
  readonly comma: number | undefined;
}

/** The bounds of the object that begins at `begin`; undefined where it does not end. */
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

/** Where a string ends whose first character is at `begin`: at its quotation mark. */
function endOfString(json: Buffer, begin: number): number {
  let from = begin;
  for (;;) {
    const end = json.indexOf(quote, from);
    if (end === -1 || !isEscaped(json, from, end)) return end;
    from = end + 1;
  }
}
