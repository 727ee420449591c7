import { ChunkBuffer } from "./chunk-buffer.ts";
import { comma, isEscaped, quote } from "./json-bytes.ts";

const opening: ReadonlySet<number | undefined> = new Set(Buffer.from("{["));
const closing: ReadonlySet<number | undefined> = new Set(Buffer.from("}]"));

/** What stands before the bracket that the items begin with. */
const beforeItems = /[{,]\s*"items"\s*:\s*$/;

/**
 * Cuts the JSON of a list into its items, each passed on as soon as all of it has come, so that no more than one of them
 * is in memory, however long the list. Each is good until the next one is asked for. Returns what remains: the same JSON
 * with no items. @throws RangeError where an item, or all that remains, is longer than any object.
 */
export async function* listItems(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, Buffer> {
  const rest = new ChunkBuffer();
  const item = new ChunkBuffer();
  let into = rest;
  let depth = 0;
  let inString = false;
  let escaped = false;
  for await (const chunk of chunks) {
    /** Where in this chunk begins what was not put anywhere yet. */
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
    }
    into.append(chunk.subarray(from));
  }
  return rest.take(Buffer.alloc(0));
}

/** Whether it is the nothing between the brackets of an empty list. */
function isBlank(bytes: Buffer): boolean {
  return bytes.length < 80 && bytes.toString().trim() === "";
}
