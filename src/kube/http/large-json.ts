import { objectBounds } from "./json-bytes.ts";

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
