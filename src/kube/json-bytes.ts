/** JSON as bytes, for what is to be skipped rather than parsed. */

/** `"`. */
export const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Whether the byte at `end` is escaped, inside of a string of which `from` is read first, itself escaped or not. */
export function isEscaped(json: Buffer, from: number, end: number, fromIsEscaped = false): boolean {
  let first = end;
  while (first > from && json[first - 1] === backslash) first--;
  const odd = (end - first) % 2 === 1;
  return first === from ? odd !== fromIsEscaped : odd;
}

/** Where the object ends that begins at `begin`: at its last brace. -1 where it does not end. */
export function endOfObject(json: Buffer, begin: number): number {
  let depth = 0;
  for (let at = begin; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      at = endOfString(json, at + 1);
      if (at === -1) return -1;
    } else if (byte === openBrace) depth++;
    else if (byte === closeBrace && --depth === 0) return at;
  }
  return -1;
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
