import { ChunkBuffer } from "./chunk-buffer.ts";
import { comma, isEscaped, quote } from "./json-bytes.ts";

const opening: ReadonlySet<number | undefined> = new Set(Buffer.from("{["));
const closing: ReadonlySet<number | undefined> = new Set(Buffer.from("}]"));

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
      else if (opening.has(byte)) {
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
      } else if (closing.has(byte)) depth--;
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
