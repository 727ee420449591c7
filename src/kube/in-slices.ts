import { setImmediate } from "node:timers/promises";

/** Some milliseconds of parsing. */
const sliceBytes = 256 * 1024;

/**
 * Passes chunks on, and lets everything else have its turn after each 256 KiB of them: a socket that has much to say is
 * read up to 2 MiB at a time, and whoever waits for an answer or a lease would wait until all of that is parsed.
 */
export async function* inSlices(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    yield chunk;
    bytes += chunk.length;
    if (bytes < sliceBytes) continue;
    bytes = 0;
    await setImmediate();
  }
}
