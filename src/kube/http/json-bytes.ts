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

/** Minimum size for which skipping is faster than parsing. */
const minBytes = 64 * 1024;

/** Maximum number of keys of `data` or `binaryData` that are parsed: several times the limit of an object. */
export const maxParsedKeys = 20_000;

/** In a string the quotation marks would be escaped. So a marker is a field name, and only these fields are objects. */
const fieldsMarker = Buffer.from('"fieldsV1":{');
const dataMarkers = [Buffer.from('"data":{'), Buffer.from('"binaryData":{')];

/** Bytes to remove. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the JSON of a large object or event without parts that need much memory when parsed and that Wave does not use.
 * Empties `fieldsV1` of managed fields, which repeats every field as a tree of objects: 20 MiB for a ConfigMap with 40,000
 * keys. Keeps at most 20,000 keys of a ConfigMap or Secret, which exceeds every limit: 100,000 keys take 50 MiB. Modifies
 * the given bytes.
 */
export function withoutBulkyFields(json: Buffer): Buffer {
  if (json.length < minBytes) return json;
  const ranges = [...managedFields(json), ...dataMarkers.flatMap((marker) => [...keysBeyond(json, marker)])];
  return without(
    json,
    ranges.sort((a, b) => a.from - b.from),
  );
}

function* managedFields(json: Buffer): Iterable<Range> {
  for (let found = json.indexOf(fieldsMarker); found !== -1; ) {
    const begin = found + fieldsMarker.length - 1;
    const bounds = objectBounds(json, begin, 1);
    if (bounds === undefined) return;
    yield { from: begin + 1, to: bounds.end };
    found = json.indexOf(fieldsMarker, bounds.end);
  }
}

function* keysBeyond(json: Buffer, marker: Buffer): Iterable<Range> {
  const found = json.indexOf(marker);
  if (found === -1) return;
  const bounds = objectBounds(json, found + marker.length - 1, maxParsedKeys);
  if (bounds?.comma !== undefined) yield { from: bounds.comma, to: bounds.end };
}

/** Removes sorted, non-overlapping ranges in place. */
function without(json: Buffer, ranges: readonly Range[]): Buffer {
  let length = 0;
  let from = 0;
  for (const range of [...ranges, { from: json.length, to: json.length }]) {
    if (from !== length) json.copyWithin(length, from, range.from);
    length += range.from - from;
    from = range.to;
  }
  return json.subarray(0, length);
}
