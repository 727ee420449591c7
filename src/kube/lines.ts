const newline = 10;

/**
 * Cuts a stream of bytes into lines without their ends, whatever way the chunks cut it: also in the middle of a
 * character. Holds one line at most. What follows the last line's end is dropped: the stream broke off in it.
 */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const tail = chunk.subarray(start, end);
      start = end + 1;
      if (begun.length === 0) yield tail;
      else yield Buffer.concat([...begun, tail]);
      begun = [];
    }
    // Copied, because a chunk may be a small part of a large buffer that would be kept with it.
    if (start < chunk.length) begun.push(start === 0 ? chunk : Buffer.from(chunk.subarray(start)));
  }
}
