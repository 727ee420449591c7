import { ChunkBuffer } from "./chunk-buffer.ts";

const newline = 10;

/**
 * Cuts a stream of bytes into lines without their ends, whatever way the chunks cut it: also in the middle of a
 * character. Each is good until the next one is asked for: the memory of one line is all that there is. What follows the
 * last line's end is dropped: the stream broke off in it. @throws RangeError where a line is longer than any object.
 */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const begun = new ChunkBuffer();
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      yield begun.take(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) begun.append(chunk.subarray(start));
  }
}
