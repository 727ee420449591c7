// Scans JSON as bytes, to skip parts without parsing them.

/** The byte `"`, which begins and ends a string. */
export const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Reports whether the byte at `end` of a string is escaped. `from` is the first available byte, which may be escaped itself. */
function isEscaped(json: Buffer, from: number, end: number, fromIsEscaped = false): boolean {
  let first = end;
  while (first > from && json[first - 1] === backslash) first--;
  const odd = (end - first) % 2 === 1;
  return first === from ? odd !== fromIsEscaped : odd;
}

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

/** Text before the opening bracket of the items. */
const beforeItems = /[{,]\s*"items"\s*:\s*$/;

/**
 * Splits the JSON of a list into its items and yields each item when it is complete, so that only one item is in memory.
 * An item is valid until the next one is requested: then it is overwritten. Returns the rest: the same JSON without items.
 * @throws RangeError if an item or the rest exceeds {@link maxObjectBytes}.
 */
export async function* listItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, Buffer> {
  const rest = new ChunkBuffer();
  using item = new ChunkBuffer();
  let into = rest;
  let depth = 0;
  let inString = false;
  let escaped = false;
  for await (const chunk of chunks) {
    /** First byte of this chunk that is not stored yet. */
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (inString) {
        const found = chunk.indexOf(quote, at);
        const end = found === -1 ? chunk.length : found;
        escaped = isEscaped(chunk, at, end, escaped);
        at = end;
        if (found === -1) break;
        inString = escaped;
        escaped = false;
        continue;
      }
      const byte = chunk[at];
      if (byte === quote) inString = true;
      else if (byte === openBrace || byte === openBracket) {
        if (depth === 1) {
          into.append(chunk.subarray(from, at));
          from = at;
          if (into === rest && beforeItems.test(rest.tail(32))) {
            rest.append(chunk.subarray(at, at + 1));
            from = at + 1;
            into = item;
          }
        }
        depth++;
      } else if (byte === closeBrace || byte === closeBracket) depth--;
      const last = into === item && depth === 1;
      if (!last && !(into === item && depth === 2 && byte === comma)) continue;
      const whole = item.take(chunk.subarray(from, at));
      if (last) into = rest;
      from = last ? at : at + 1;
      if (!isBlank(whole)) yield whole;
      item.clear();
    }
    into.append(chunk.subarray(from));
  }
  return rest.take(Buffer.alloc(0));
}

/** Reports whether the bytes are the white space in the brackets of an empty list. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length < 80 && bytes.toString().trim() === "";
}

/** Maximum size of an object in JSON. The API server stores at most 1.5 MiB, and a control character takes six bytes in JSON. */
export const maxObjectBytes = 12 * 1024 * 1024;

const minBufferBytes = 64 * 1024;
/** Number of small results in a row after which the memory of a large one is released. */
const smallResultsUntilShrink = 100;

/** Joins up to {@link maxObjectBytes} of chunks in memory that is reused: V8 would not collect a new buffer for each object in time. */
export class ChunkBuffer implements Disposable {
  #buffer = Buffer.alloc(0);
  #length = 0;
  /** The bytes of the buffer that are not overwritten yet. */
  #used = 0;
  #small = 0;

  /** Returns at most the last `count` bytes as latin1 text. */
  tail(count: number): string {
    return this.#buffer.toString("latin1", Math.max(0, this.#length - count), this.#length);
  }

  /** Appends a copy of the bytes. @throws RangeError if the result exceeds {@link maxObjectBytes}. */
  append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > maxObjectBytes) throw new RangeError(`the object exceeds ${maxObjectBytes / 1024 / 1024} MiB`);
    if (length > this.#buffer.length) {
      const size = Math.min(maxObjectBytes, Math.max(minBufferBytes, 2 * this.#buffer.length, length));
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer.fill(0);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.#length);
    this.#length = length;
    this.#used = Math.max(this.#used, length);
  }

  /** Overwrites everything that was appended, because it may be a Secret, and starts again. */
  clear(): void {
    this.#buffer.fill(0, 0, this.#used);
    this.#used = 0;
    this.#length = 0;
  }

  [Symbol.dispose](): void {
    this.clear();
  }

  /** Returns everything that was appended plus `last`, and starts again. The result is valid until the next `append` or `clear`. */
  take(last: Buffer): Buffer {
    if (this.#length === 0) return last;
    this.append(last);
    const whole = this.#buffer.subarray(0, this.#length);
    this.#small = this.#length < this.#buffer.length / 4 ? this.#small + 1 : 0;
    if (this.#small > smallResultsUntilShrink) {
      this.#buffer = Buffer.alloc(0);
      this.#used = 0;
    }
    this.#length = 0;
    return whole;
  }
}
