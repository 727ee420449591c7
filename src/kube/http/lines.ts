import { ChunkBuffer } from "./chunk-buffer.ts";

const newline = 10;

/**
 * Splits a stream of bytes into lines without line ends. Chunks may end anywhere, also in the middle of a character. A line
 * is valid until the next one is requested: all lines share the same memory, which is overwritten. Drops an incomplete last line.
 * @throws RangeError if a line exceeds {@link maxObjectBytes}.
 */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  using begun = new ChunkBuffer();
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      yield begun.take(chunk.subarray(start, end));
      begun.clear();
      start = end + 1;
    }
    if (start < chunk.length) begun.append(chunk.subarray(start));
  }
}
