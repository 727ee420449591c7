import { objectBounds } from "./json-bytes.ts";

/** Smaller ones are parsed as quickly. */
const worthIt = 64 * 1024;

/** Keys of `data` or `binaryData` that are parsed: several times as many as the budget of an object has. */
export const maxParsedKeys = 20_000;

/**
 * In a string the quotation marks would be escaped, so that a marker is a name in the object; and only here is what these
 * name an object again.
 */
const fieldsMarker = Buffer.from('"fieldsV1":{');
const dataMarkers = [Buffer.from('"data":{'), Buffer.from('"binaryData":{')];

/** Bytes to leave out. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * The JSON of a large object, or the event with it, without what would take much memory when it is parsed and is of no
 * use to anybody here: `fieldsV1` of its managed fields is empty (it names every field again, as a tree of objects:
 * 20 MiB for a ConfigMap of 40,000 keys), and of a ConfigMap's or Secret's keys there are 20,000 at most, which is
 * beyond every budget (100,000 take 50 MiB). Changes the bytes that it is given.
 */
export function withoutBulkyFields(json: Buffer): Buffer {
  if (json.length < worthIt) return json;
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

/** Moves what stays together. The ranges are in order and do not overlap. */
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
